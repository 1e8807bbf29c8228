/**
 * The rows of the node list, made flat: pure functions from scopes and nodes to what is drawn.
 *
 * Two shapes: the tree of open scopes, loaded a scope at a time; and the tree around the nodes that a filter found.
 */

import type { NodeRow, Schemas } from "../api/client";

export type ScopeView = Schemas["ScopeView"];
/** What has come of a scope: its pages by their offsets. */
export type Pages = ReadonlyMap<number, ScopeView>;
export type RowKind = "graph" | "scope" | "op" | "parameter" | "input" | "constant" | "note";

export interface Row {
  /** One of its kind among the rows. */
  key: string;
  kind: RowKind;
  /** The last part of the name, or the text of a note. */
  label: string;
  /** Path of a scope, full name of a node; "" for notes. */
  name: string;
  graph: string;
  depth: number;
  isOpen: boolean;
  /** Ops inside a scope, or nodes that a filter found in it. */
  count: number;
  op: string;
  /** Of a row that only keeps the place of a child: where that is to be asked for. */
  missing?: { path: string; offset: number };
}

export interface NoteTexts {
  loading: string;
  /** Where parameters are left out, because the ops that read them are not there yet. */
  moreParameters: string;
}

/**
 * Rows of the tree of open scopes. A scope of which nothing is there yet has one row that says so; of one that comes in
 * pages of `size`, each child that is not there yet has its row, so that the list is as long as it will be.
 */
export function treeRows(
  graph: string,
  scopes: ReadonlyMap<string, Pages>,
  open: ReadonlySet<string>,
  text: NoteTexts,
  size: number,
): Row[] {
  const rows: Row[] = [];
  const add = (path: string, depth: number): void => {
    const pages = scopes.get(path);
    const total = pages?.values().next().value?.total;
    if (!pages || total === undefined) {
      rows.push(note(`${path}\nloading`, text.loading, graph, depth));
      return;
    }
    const read = new Map<string, RowKind>();
    for (let offset = 0; offset < total; offset += size) {
      const page = pages.get(offset);
      if (page) addPage(page, depth, read);
      else
        for (let place = offset; place < Math.min(offset + size, total); place++)
          rows.push({ ...note(`${path}\n#${place}`, text.loading, graph, depth), missing: { path, offset } });
    }
    for (const [name, kind] of read) {
      rows.push({ key: `${path}\n${name}`, kind, label: name, name, graph, depth, isOpen: false, count: 0, op: "" });
    }
    if (read.size > 0 && pages.size * size < total) rows.push(note(`${path}\nmore`, text.moreParameters, graph, depth));
  };
  const addPage = (page: ScopeView, depth: number, read: Map<string, RowKind>): void => {
    for (const child of page.children) {
      const isScope = child.kind === "scope";
      const isOpen = isScope && open.has(child.path);
      rows.push({
        key: child.path,
        kind: isScope ? "scope" : "op",
        label: child.name,
        name: child.path,
        graph,
        depth,
        isOpen,
        count: child.nodes,
        op: child.op,
      });
      if (isOpen) add(child.path, depth + 1);
      for (const badge of child.badges) if (badge.kind !== "constant") read.set(badge.name, badge.kind as RowKind);
    }
  };
  add("", 0);
  return rows;
}

function note(key: string, label: string, graph: string, depth: number): Row {
  return { key, kind: "note", label, name: "", graph, depth, isOpen: false, count: 0, op: "" };
}

interface Branch {
  scopes: Map<string, Branch>;
  nodes: NodeRow[];
  count: number;
}

/** The branch of that name, made where there is none, with one more node in it. */
function within(branches: Map<string, Branch>, name: string): Branch {
  const found = branches.get(name) ?? { scopes: new Map(), nodes: [], count: 0 };
  branches.set(name, found);
  found.count++;
  return found;
}

/** Rows of the tree around found nodes; all open but what is in `closed` (by key). Graphs on top where `withGraphs`. */
export function foundRows(nodes: readonly NodeRow[], closed: ReadonlySet<string>, withGraphs: boolean): Row[] {
  const graphs = new Map<string, Branch>();
  for (const node of nodes) {
    let at = within(graphs, node.graph);
    const parts = node.name.split("/");
    parts.pop();
    for (const part of parts) at = within(at.scopes, part);
    at.nodes.push(node);
  }
  const rows: Row[] = [];
  const add = (of: Branch, graph: string, path: string, depth: number): void => {
    for (const [label, inside] of of.scopes) {
      const name = path ? `${path}/${label}` : label;
      const key = `${graph}\n${name}`;
      const isOpen = !closed.has(key);
      rows.push({ key, kind: "scope", label, name, graph, depth, isOpen, count: inside.count, op: "" });
      if (isOpen) add(inside, graph, name, depth + 1);
    }
    for (const node of of.nodes) {
      const label = node.name.slice(node.name.lastIndexOf("/") + 1);
      const key = `${graph}\n\n${node.name}`;
      rows.push({ key, kind: node.kind, label, name: node.name, graph, depth, isOpen: false, count: 0, op: node.op });
    }
  };
  for (const [graph, inside] of graphs) {
    if (!withGraphs) {
      add(inside, graph, "", 0);
      continue;
    }
    const isOpen = !closed.has(graph);
    rows.push({ key: graph, kind: "graph", label: graph, name: "", graph, depth: 0, isOpen, count: inside.count, op: "" });
    if (isOpen) add(inside, graph, "", 1);
  }
  return rows;
}

export function canOpen(row: Row): boolean {
  return row.kind === "scope" || row.kind === "graph";
}

/** The row that a row is inside of, or -1. */
export function parentOf(rows: readonly Row[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; above--) if ((rows[above]?.depth ?? 0) < depth) return above;
  return -1;
}
