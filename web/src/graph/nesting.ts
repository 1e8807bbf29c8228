/** A view as a tree of boxes, each edge taken to the innermost open box around both of its ends. */

import type { View } from "./scene";

/** Number of the root among the boxes; all others are indices into the view's nodes. */
export const ROOT = -1;

/** What flows between two children of one open box: one pair for all the edges that do. */
export interface Pair {
  source: number;
  target: number;
  edges: number[];
}

export interface Nesting {
  parents: number[];
  depths: number[];
  children: Map<number, number[]>;
  /** By open box. */
  pairs: Map<number, Pair[]>;
  /** By open box, its children that lines reach from outside, along the flow; and those from which they leave it. */
  entries: Map<number, Set<number>>;
  exits: Map<number, Set<number>>;
}

export function nest(view: View): Nesting {
  const places = new Map(view.nodes.map((node, index) => [node.id, index]));
  const parents = view.nodes.map((node) => (node.parent === "" ? ROOT : (places.get(node.parent) ?? ROOT)));
  const depths: number[] = [];
  const children = new Map<number, number[]>([[ROOT, []]]);
  view.nodes.forEach((node, index) => {
    const parent = parents[index]!;
    depths.push(parent === ROOT ? 0 : depths[parent]! + 1);
    children.get(parent)?.push(index);
    if (node.open) children.set(index, []);
  });
  return { parents, depths, children, ...pairUp(view, parents, depths) };
}

function pairUp(view: View, parents: number[], depths: number[]): Pick<Nesting, "pairs" | "entries" | "exits"> {
  const pairs = new Map<number, Pair[]>();
  const [entries, exits] = [new Map<number, Set<number>>(), new Map<number, Set<number>>()];
  const found = new Map<string, Pair>();
  view.edges.forEach((edge, index) => {
    let { source, target } = edge;
    while (parents[source] !== parents[target]) {
      if (depths[source]! > depths[target]!) source = parents[source]!;
      else if (depths[target]! > depths[source]!) target = parents[target]!;
      else [source, target] = [parents[source]!, parents[target]!];
    }
    if (source === target) return;
    if (view.nodes[source]!.role === view.nodes[target]!.role) {
      addBelow(exits, parents, edge.source, source);
      addBelow(entries, parents, edge.target, target);
    }
    const key = `${source} ${target}`;
    const known = found.get(key);
    if (known) {
      known.edges.push(index);
      return;
    }
    const pair = { source, target, edges: [index] };
    found.set(key, pair);
    const parent = parents[source]!;
    const list = pairs.get(parent);
    if (list) list.push(pair);
    else pairs.set(parent, [pair]);
  });
  return { pairs, entries, exits };
}

function addBelow(to: Map<number, Set<number>>, parents: number[], inner: number, outer: number): void {
  for (let at = inner; at !== outer; at = parents[at]!) {
    const parent = parents[at]!;
    const known = to.get(parent);
    if (known) known.add(at);
    else to.set(parent, new Set([at]));
  }
}
