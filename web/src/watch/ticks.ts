/**
 * Ticks of the watchpoint that is edited, as the page knows them: pure functions over maps by key.
 *
 * The server decides; what is here only foretells its answer, so that a click shows at once. A parameter counts to the
 * scope of its first reader, which the page does not know: such a scope may change once more when the answer is there.
 */

import type { Row } from "../tree/rows";

/** 0 not watched, 1 watched, 2 some of what is inside, -1 nothing to watch (constants, nodes without a value). */
export type Mark = 0 | 1 | 2 | -1;
export type Marks = ReadonlyMap<string, Mark>;

export function keyOf(graph: string, path: string, isScope: boolean): string {
  return `${graph}\n${isScope ? "s" : "n"}${path}`;
}

export function rowKey(row: Row): string {
  return keyOf(row.graph, row.name, row.kind === "scope" || row.kind === "graph");
}

/** Whether a row can have a box at all. */
export function isTickable(row: Row): boolean {
  return row.kind !== "note" && row.kind !== "constant";
}

/** What a scope shows whose children show `marks`; undefined where nothing is known of any. */
export function combined(marks: Iterable<Mark | undefined>): Mark | undefined {
  let all: Mark | undefined;
  let unknown = false;
  for (const mark of marks) {
    if (mark === undefined) unknown = true;
    else if (mark === 2) return 2;
    else if (mark === -1) all ??= -1;
    else if (all === undefined || all === -1) all = mark;
    else if (all !== mark) return 2;
  }
  return unknown && all !== undefined && all !== -1 ? 2 : unknown ? undefined : all;
}

/** The tree of open scopes after the tick of one row: all below it, and what is above it. */
export function tickedInTree(marks: Marks, rows: readonly Row[], at: number, on: boolean): Map<string, Mark> {
  const next = new Map(marks);
  const row = rows[at];
  if (!row) return next;
  const put = (key: string) => {
    if (next.get(key) !== -1) next.set(key, on ? 1 : 0);
  };
  put(rowKey(row));
  if (row.kind === "scope") {
    for (let below = at + 1; below < rows.length && (rows[below]?.depth ?? 0) > row.depth; below++) {
      const inside = rows[below];
      if (inside && isTickable(inside)) put(rowKey(inside));
    }
    const scopes = keyOf(row.graph, `${row.name}/`, true);
    const nodes = keyOf(row.graph, `${row.name}/`, false);
    for (const key of marks.keys()) if (key.startsWith(scopes) || key.startsWith(nodes)) put(key);
  }
  for (let above = parentAt(rows, at); above >= 0; above = parentAt(rows, above)) {
    const mark = combined(childrenOf(rows, above).map((child) => next.get(rowKey(child))));
    const parent = rows[above];
    if (parent && mark !== undefined) next.set(rowKey(parent), mark);
  }
  return next;
}

function parentAt(rows: readonly Row[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  let above = at - 1;
  while (above >= 0 && (rows[above]?.depth ?? 0) >= depth) above--;
  return above;
}

function childrenOf(rows: readonly Row[], at: number): Row[] {
  const depth = rows[at]?.depth ?? 0;
  const children: Row[] = [];
  for (let below = at + 1; below < rows.length; below++) {
    const row = rows[below];
    if (!row || row.depth <= depth) break;
    if (row.depth === depth + 1 && isTickable(row)) children.push(row);
  }
  return children;
}

/** A node that a filter found. */
export interface Found {
  graph: string;
  name: string;
}

/** Whether a found node lies in a row of the found tree: itself, its scope, its graph. */
export function isWithin(node: Found, row: Row): boolean {
  if (node.graph !== row.graph) return false;
  if (row.kind === "graph") return true;
  return row.kind === "scope" ? node.name.startsWith(`${row.name}/`) : node.name === row.name;
}

/** The found nodes after the tick of a row: only what was found changes, whatever else the scope holds. */
export function tickedInFound(marks: Marks, nodes: readonly Found[], row: Row | null, on: boolean): Map<string, Mark> {
  const next = new Map(marks);
  for (const node of nodes) {
    const key = keyOf(node.graph, node.name, false);
    if ((row === null || isWithin(node, row)) && next.get(key) !== -1) next.set(key, on ? 1 : 0);
  }
  return next;
}

/** Marks of the scopes and graphs around found nodes: of what was found in them only. */
export function foundScopes(marks: Marks, nodes: readonly Found[]): Map<string, Mark> {
  const seen = new Map<string, Set<Mark | undefined>>();
  for (const node of nodes) {
    const mark = marks.get(keyOf(node.graph, node.name, false));
    const parts = [keyOf(node.graph, "", true)];
    for (let slash = node.name.indexOf("/"); slash >= 0; slash = node.name.indexOf("/", slash + 1)) {
      parts.push(keyOf(node.graph, node.name.slice(0, slash), true));
    }
    for (const key of parts) {
      const known = seen.get(key);
      if (known) known.add(mark);
      else seen.set(key, new Set([mark]));
    }
  }
  const scopes = new Map<string, Mark>();
  for (const [key, inside] of seen) {
    const mark = combined(inside);
    if (mark !== undefined) scopes.set(key, mark);
  }
  return scopes;
}
