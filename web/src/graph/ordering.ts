/** The order within the layers, so that few lines cross; and the places across the flow, so that lines run straight. */

import type { Item, Rows } from "./courses";
import { SPACE } from "./layers";

const SWEEPS = 8;
const PASSES = 12;
const LINE_SPACE = 12; // between two lines, and between a line and a part
const PORTS = 14; // between two lines at one part, at most
const NEARLY = 7; // pixels
const STRENGTH = [1, 0.4, 8]; // of the pull between two parts, a part and a line that passes, two pieces of such a line

export function order(layers: Rows): void {
  renumber(layers);
  let [best, fewest] = [layers.map((layer) => [...layer]), crossings(layers)];
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      const middle = new Map(layer.map((item) => [item, middleOf(item, isDown)]));
      layer.sort((a, b) => middle.get(a)! - middle.get(b)!);
      layer.forEach((item, place) => (item.place = place));
    }
    const count = crossings(layers);
    if (count < fewest) [best, fewest] = [layers.map((layer) => [...layer]), count];
  }
  best.forEach((layer, index) => (layers[index] = layer));
  renumber(layers);
}

function renumber(layers: Rows): void {
  for (const layer of layers) layer.forEach((item, place) => (item.place = place));
}

function middleOf(item: Item, isDown: boolean): number {
  const places = isDown ? item.up.map(({ from }) => from.place) : item.down.map(({ to }) => to.place);
  return places.length === 0 ? item.place : places.reduce((sum, place) => sum + place, 0) / places.length;
}

function crossings(layers: Rows): number {
  let count = 0;
  for (const layer of layers) {
    const targets = layer.flatMap(({ down }) => down.map(({ to }) => to.place).sort((a, b) => a - b));
    for (let i = 1; i < targets.length; i++) for (let j = 0; j < i; j++) if (targets[j]! > targets[i]!) count++;
  }
  return count;
}

/** Spreads the ends of lines over the sides of the parts, in the order in which they go on. */
export function spreadEnds(layers: Rows): void {
  for (const item of layers.flat()) {
    if (item.part < 0) continue;
    const step = (lines: number) => Math.min(PORTS, (item.breadth - 24) / Math.max(1, lines - 1));
    const shift = (at: number, lines: number) => (at - (lines - 1) / 2) * Math.max(0, step(lines));
    item.down.sort((a, b) => a.to.place - b.to.place);
    item.down.forEach((hop, at) => (hop.leaves = shift(at, item.down.length)));
    item.up.sort((a, b) => a.from.place - b.from.place);
    item.up.forEach((hop, at) => (hop.arrives = shift(at, item.up.length)));
  }
}

/** Moves each item to where its lines want it, as far as its neighbours allow; lines that only pass pull hardest. */
export function straighten(layers: Rows): void {
  for (const layer of layers) {
    let x = 0;
    layer.forEach((item, place) => (item.x = place === 0 ? 0 : (x += distance(layer[place - 1]!, item))));
  }
  for (let pass = 0; pass < PASSES; pass++) {
    const isLast = pass >= PASSES - 2;
    const sides = isLast ? "both" : pass % 2 === 0 ? "up" : "down";
    for (const layer of pass % 2 === 0 ? layers : [...layers].reverse()) settle(layer, sides);
  }
  for (const item of layers.flat()) item.x = Math.round(item.x);
  alignLanes(layers);
  alignEnds(layers);
}

/** Lines that pass nearly straight do so. */
function alignLanes(layers: Rows): void {
  for (const layer of layers)
    layer.forEach((item, place) => {
      const above = item.up[0]?.from;
      if (item.part >= 0 || !above || above.part >= 0 || Math.abs(above.x - item.x) > NEARLY) return;
      const [left, right] = [layer[place - 1], layer[place + 1]];
      const isFree = (other: Item | undefined) =>
        !other || Math.abs(other.x - above.x) >= (other.breadth + LINE_SPACE) / 2;
      if (isFree(left) && isFree(right)) item.x = above.x;
    });
}

/** A line that is nearly straight ends beside its place, and is straight. */
function alignEnds(layers: Rows): void {
  for (const hop of layers.flatMap((layer) => layer.flatMap(({ down }) => down))) {
    const { from, to } = hop;
    const by = from.x + hop.leaves - to.x - hop.arrives;
    if (by === 0 || Math.abs(by) > NEARLY) continue;
    if (to.part >= 0 && isOnSide(to, hop.arrives + by)) hop.arrives += by;
    else if (from.part >= 0 && isOnSide(from, hop.leaves - by)) hop.leaves -= by;
  }
}

function isOnSide({ breadth }: Item, shift: number): boolean {
  return Math.abs(shift) < breadth / 2 - 8;
}

function distance(a: Item, b: Item): number {
  return (a.breadth + b.breadth) / 2 + (a.part >= 0 && b.part >= 0 ? SPACE : LINE_SPACE);
}

/** The places nearest to the wanted ones that keep all distances (isotonic regression: neighbours that push are pooled). */
function settle(layer: readonly Item[], sides: "up" | "down" | "both"): void {
  const blocks: { wanted: number; weight: number; items: Item[] }[] = [];
  const offsets = new Map<Item, number>();
  let offset = 0;
  layer.forEach((item, place) => {
    if (place > 0) offset += distance(layer[place - 1]!, item);
    offsets.set(item, offset);
    const { wanted, weight } = wish(item, sides);
    let block = { wanted: wanted - offset, weight, items: [item] };
    for (let last = blocks.at(-1); last && last.wanted > block.wanted; last = blocks.at(-1)) {
      blocks.pop();
      const weights = last.weight + block.weight;
      const middle = (last.wanted * last.weight + block.wanted * block.weight) / weights;
      block = { wanted: middle, weight: weights, items: [...last.items, ...block.items] };
    }
    blocks.push(block);
  });
  for (const { wanted, items } of blocks) for (const item of items) item.x = wanted + offsets.get(item)!;
}

function wish(item: Item, sides: "up" | "down" | "both"): { wanted: number; weight: number } {
  let [sum, weight] = [0, 0];
  const pull = (other: Item, shift: number) => {
    const lines = Number(item.part < 0) + Number(other.part < 0);
    const strength = STRENGTH[lines]!;
    sum += strength * (other.x + shift);
    weight += strength;
  };
  if (sides !== "down") for (const { from, leaves, arrives } of item.up) pull(from, leaves - arrives);
  if (sides !== "up") for (const { to, leaves, arrives } of item.down) pull(to, arrives - leaves);
  return weight === 0 ? { wanted: item.x, weight: 0.1 } : { wanted: sum / weight, weight };
}
