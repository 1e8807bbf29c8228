/**
 * Which layer each part of a group is in, and in which column of layers: the flow runs down through the layers, and what
 * would be a strip is cut into columns side by side.
 */

/** Sizes along the flow and across it. */
export interface Part {
  length: number;
  breadth: number;
  /** Not drawn: where lines come in from outside, before all else, or leave, behind all else. */
  gate?: "in" | "out";
}

/** `source` and `target` are places among the parts. */
export interface Tie {
  source: number;
  target: number;
}

export const SPACE = 26; // between two parts of a layer
export const COLUMN_GAP = 64;
const STRIP = 3.6; // how many times as long, for its breadth, as the picture is to be: then it is cut
const CUT_RANGE = 0.3; // of a column's length: how far from the even cut a better one is looked for
const MOST_CUT = 12; // lines that go on in the next column; where there would be more, nothing is cut

/**
 * The parts in an order in which as few lines as can be go back: each after what it reads. Where lines run in a circle,
 * what runs first comes first.
 */
export function inOrder(count: number, ties: readonly Tie[]): number[] {
  const waits = new Array<number>(count).fill(0);
  const readers = Array.from({ length: count }, (): number[] => []);
  for (const { source, target } of ties) {
    readers[source]!.push(target);
    waits[target]!++;
  }
  const left = new Set(Array.from({ length: count }, (_, part) => part)); // in the order in which they run
  const order: number[] = [];
  while (left.size > 0) {
    let next = -1;
    for (const part of left) {
      if (next < 0) next = part;
      if (waits[part] !== 0) continue;
      next = part;
      break;
    }
    left.delete(next);
    order.push(next);
    for (const reader of readers[next]!) waits[reader]!--;
  }
  return order;
}

/** The tie in the direction from what comes first to what comes later. */
export function onward({ source, target }: Tie): Tie {
  return source < target ? { source, target } : { source: target, target: source };
}

/** By part; parts are in the order in which they run. As early as can be, but those with more readers than inputs near these. */
export function assignLayers(parts: readonly Part[], ties: readonly Tie[]): number[] {
  const isInner = ({ source, target }: Tie) => !parts[source]!.gate && !parts[target]!.gate;
  const layers = innerLayers(parts.length, ties.filter(isInner));
  const first = parts.some(({ gate }) => gate === "in") ? 1 : 0;
  const last = Math.max(...layers) + first + 1;
  return layers.map((layer, part) => {
    const { gate } = parts[part]!;
    return gate === "in" ? 0 : gate === "out" ? last : layer + first;
  });
}

function innerLayers(count: number, ties: readonly Tie[]): number[] {
  const layers = new Array<number>(count).fill(0);
  const into = new Array<number>(count).fill(0);
  const readers = Array.from({ length: count }, (): number[] => []);
  for (const { source, target } of ties.map(onward)) {
    readers[source]!.push(target);
    into[target]!++;
  }
  for (let part = 0; part < count; part++)
    for (const reader of readers[part]!) layers[reader] = Math.max(layers[reader]!, layers[part]! + 1);
  for (let part = count - 1; part >= 0; part--) {
    const nearest = Math.min(...readers[part]!.map((reader) => layers[reader]!)) - 1;
    if (readers[part]!.length > into[part]! && nearest > layers[part]!) layers[part] = nearest;
  }
  return layers;
}

/** The first layer of each column, for a picture that is about `aspect` times as broad as long. */
export function cutIntoColumns(
  parts: readonly Part[],
  ties: readonly Tie[],
  layers: readonly number[],
  gap: number,
  aspect: number,
): number[] {
  const count = Math.max(...layers) + 1;
  const lengths = new Array<number>(count).fill(0);
  const breadths = new Array<number>(count).fill(0);
  parts.forEach(({ length, breadth }, index) => {
    const layer = layers[index]!;
    lengths[layer] = Math.max(lengths[layer]!, length);
    breadths[layer]! += breadth + SPACE;
  });
  let whole = 0;
  const ends = lengths.map((length) => (whole += length + gap)); // where each layer ends
  const broad = breadths.reduce((sum, breadth, layer) => sum + breadth * (lengths[layer]! + gap), 0) / whole + COLUMN_GAP;
  if (whole * aspect < STRIP * broad) return [0];

  const crossing = new Array<number>(count + 1).fill(0); // lines over the border before a layer
  for (const { source, target } of distinct(ties.filter((tie) => tie.source < tie.target)))
    for (let layer = layers[source]! + 1; layer <= layers[target]!; layer++) crossing[layer]!++;
  const columns = Math.max(2, Math.round(whole / Math.sqrt((whole * broad) / aspect)));
  const each = whole / columns;
  const starts = [0];
  for (let column = 1; column < columns; column++) {
    const cost = (layer: number) => crossing[layer]! + (5 * Math.abs(ends[layer - 1]! - column * each)) / each;
    let best = -1;
    for (let layer = starts[starts.length - 1]! + 1; layer < count; layer++) {
      if (Math.abs(ends[layer - 1]! - column * each) > CUT_RANGE * each || crossing[layer]! > MOST_CUT) continue;
      if (best < 0 || cost(layer) < cost(best)) best = layer;
    }
    if (best > 0) starts.push(best);
  }
  return starts;
}

/** One tie of each source, the longest: the others run along it. */
function distinct(ties: readonly Tie[]): Tie[] {
  const longest = new Map<number, Tie>();
  for (const tie of ties) if ((longest.get(tie.source)?.target ?? -1) < tie.target) longest.set(tie.source, tie);
  return [...longest.values()];
}
