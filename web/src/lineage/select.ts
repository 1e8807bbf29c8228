/**
 * What is drawn of a lineage: so many hops each way, with very many neighbours of one node folded into one box, and the
 * path of a trace, however long it is. Pure.
 */

import type { Schemas } from "../api/client";

export type Lineage = Schemas["Lineage"];
export type Side = "up" | "down";

/** A tensor on the way from where a fault began. */
export interface Step {
  node: string;
  slot: number;
  op: string;
}

/** How much is wanted. */
export interface Extent {
  /** Hops towards what the tensor comes from, and towards what it goes to. */
  up: number;
  down: number;
  /** Ids of the folds that were opened. */
  unfolded: ReadonlySet<string>;
  /** Names of nodes that come first where others are folded. */
  first: ReadonlySet<string>;
}

export interface DrawnNode {
  kind: "node";
  /** The node's full name. */
  id: string;
  op: string;
  type: "op" | "parameter" | "input" | "constant";
  /** Slots that lines leave from. */
  slots: number[];
}

/** Neighbours of a node that are folded into one box. */
export interface Fold {
  kind: "fold";
  id: string;
  side: Side;
  count: number;
}

export interface DrawnLine {
  source: string;
  /** Of the source; -1 of a fold. */
  slot: number;
  target: string;
  /** Where the target reads it; empty where that is not known. */
  inputs: number[];
  /** Which piece of the path it is, from 0 on; -1 off the path. */
  piece: number;
}

export interface Drawing {
  nodes: (DrawnNode | Fold)[];
  lines: DrawnLine[];
  /** Nodes that one hop more would show. */
  more: Record<Side, number>;
}

/** Neighbours on one side of a node that are drawn; of more, one less, and a fold. */
export const MOST_BESIDE = 8;
/** Hops that the server goes. */
export const MOST_HOPS = 20;

export function select(lineage: Lineage, extent: Extent, path: readonly Step[]): Drawing {
  const known = new Map(lineage.nodes.map((node) => [node.name, node]));
  const shown = new Set([lineage.name, ...path.map(({ node }) => node)]);
  const folds: { fold: Fold; at: string; slot: number }[] = [];
  const rank = (name: string) => (shown.has(name) ? 0 : extent.first.has(name) ? 1 : 2);
  for (const side of ["up", "down"] as const) {
    let frontier = [lineage.name];
    for (let hop = 1; hop <= extent[side]; hop++) {
      const following: string[] = [];
      for (const { at, slot, others } of frontier.flatMap((name) => neighbours(lineage, name, side))) {
        const beside = others.filter((name) => isOnSide(known.get(name)!.distance, side, extent));
        const id = `${side} ${slot} ${at}`;
        const isFolded = beside.length > MOST_BESIDE && !extent.unfolded.has(id);
        const sorted = isFolded ? [...beside].sort((a, b) => rank(a) - rank(b)) : beside;
        const least = beside.filter((name) => shown.has(name)).length; // drawn anyway
        const drawn = isFolded ? sorted.slice(0, Math.max(MOST_BESIDE - 1, least)) : sorted;
        const count = beside.length - drawn.length;
        if (count > 0) folds.push({ fold: { kind: "fold", id, side, count }, at, slot });
        for (const name of drawn) {
          if (known.get(name)!.distance === (side === "up" ? -hop : hop)) following.push(name);
          shown.add(name);
        }
      }
      frontier = [...new Set(following)];
    }
  }
  const lines = linesOf(lineage, shown, path);
  return {
    nodes: [...nodesOf(lineage, shown, path, lines), ...folds.map(({ fold }) => fold)],
    lines: [
      ...lines,
      ...folds.map(({ fold: { id, side }, at, slot }): DrawnLine =>
        side === "up" ? { source: id, slot: -1, target: at, inputs: [], piece: -1 } : { source: at, slot, target: id, inputs: [], piece: -1 },
      ),
    ],
    more: { up: beyond(lineage, -extent.up - 1, shown), down: beyond(lineage, extent.down + 1, shown) },
  };
}

function isOnSide(distance: number, side: Side, { up, down }: Extent): boolean {
  return side === "up" ? distance < 0 && distance >= -up : distance > 0 && distance <= down;
}

/** Those that a node reads; or, by slot, those that read it. */
function neighbours(lineage: Lineage, name: string, side: Side): { at: string; slot: number; others: string[] }[] {
  if (side === "up") {
    const sources = lineage.edges.filter(({ target }) => target === name).map(({ source }) => source);
    return [{ at: name, slot: -1, others: [...new Set(sources)] }];
  }
  const bySlot = new Map<number, Set<string>>();
  for (const { source, slot, target } of lineage.edges) {
    if (source !== name) continue;
    const known = bySlot.get(slot);
    if (known) known.add(target);
    else bySlot.set(slot, new Set([target]));
  }
  return [...bySlot].map(([slot, others]) => ({ at: name, slot, others: [...others] }));
}

function beyond(lineage: Lineage, distance: number, shown: ReadonlySet<string>): number {
  return lineage.nodes.filter((node) => node.distance === distance && !shown.has(node.name)).length;
}

/** One line for all inputs of a node that read the same tensor. */
function linesOf(lineage: Lineage, shown: ReadonlySet<string>, path: readonly Step[]): DrawnLine[] {
  const lines = new Map<string, DrawnLine>();
  const lineOf = (source: string, slot: number, target: string): DrawnLine => {
    const key = `${slot} ${source}\n${target}`;
    const line = lines.get(key) ?? { source, slot, target, inputs: [], piece: -1 };
    lines.set(key, line);
    return line;
  };
  for (const { source, slot, target, input } of lineage.edges)
    if (shown.has(source) && shown.has(target)) lineOf(source, slot, target).inputs.push(input);
  path.slice(1).forEach((step, piece) => {
    const { node, slot } = path[piece]!;
    lineOf(node, slot, step.node).piece = piece;
  });
  return [...lines.values()];
}

function nodesOf(
  lineage: Lineage,
  shown: ReadonlySet<string>,
  path: readonly Step[],
  lines: readonly DrawnLine[],
): DrawnNode[] {
  const slots = new Map<string, Set<number>>([...shown].map((name) => [name, new Set()]));
  slots.get(lineage.name)!.add(lineage.slot);
  for (const { node, slot } of path) slots.get(node)!.add(slot);
  for (const { source, slot } of lines) slots.get(source)!.add(slot);
  const listed = lineage.nodes.map(({ name, op, kind }) => ({ name, op, type: kind }));
  const names = new Set(listed.map(({ name }) => name));
  const beyond = path.filter(({ node }) => !names.has(node)).map(({ node, op }) => ({ name: node, op, type: "op" as const }));
  return [...beyond, ...listed]
    .filter(({ name }) => shown.has(name))
    .map(({ name, op, type }) => ({ kind: "node", id: name, op, type, slots: [...slots.get(name)!].sort((a, b) => a - b) }));
}
