/** The drawing in coordinates: rows of nodes with their slots below them, what is read above what reads it. Pure. */

import type { Hop, Item, Rows } from "../graph/courses";
import { inOrder, type Tie } from "../graph/layers";
import { order, spreadEnds, straighten } from "../graph/ordering";
import type { Rect } from "../graph/scene";

export const NODE_HEIGHT = 24;
export const SLOT_HEIGHT = 18;
export const SLOT_GAP = 4;
const ROW = NODE_HEIGHT + SLOT_HEIGHT;
const GAP = 28; // between two rows
const BEND = GAP * 0.55; // how far a line runs straight before it bends

/** A box to be placed. */
export interface Sized {
  id: string;
  width: number;
  /** Its slots in order. */
  slots: readonly { slot: number; width: number }[];
}

export interface Line {
  source: string;
  /** -1 where it leaves from the box itself. */
  slot: number;
  target: string;
}

/** A box in its place, with its slots below it. */
export interface Placed extends Rect {
  id: string;
  row: number;
  slots: (Rect & { slot: number })[];
}

export interface Layout {
  boxes: Placed[];
  /** By line, SVG path data. */
  ways: string[];
  width: number;
  height: number;
}

/** `centre` is the box that producers stand above and consumers below. */
export function layOut(boxes: readonly Sized[], lines: readonly Line[], centre: string): Layout {
  const places = new Map(boxes.map(({ id }, place) => [id, place]));
  const ties = lines.map(({ source, target }): Tie => ({ source: places.get(source)!, target: places.get(target)! }));
  const rank = new Array<number>(boxes.length);
  const sorted = inOrder(boxes.length, ties.filter(({ source, target }) => source !== target));
  sorted.forEach((box, at) => (rank[box] = at));
  const isOnward = ({ source, target }: Tie) => rank[source]! < rank[target]!;
  const rowOf = assignRows(sorted, ties.filter(isOnward), places.get(centre)!);
  const rows: Rows = Array.from({ length: Math.max(...rowOf) + 1 }, () => []);
  const items = boxes.map(({ width }, part) => put(rows, rowOf[part]!, part, width));
  const lanes = new Map<string, Hop[]>();
  const courses = ties.map((tie, at) =>
    isOnward(tie) ? run(rows, items[tie.source]!, items[tie.target]!, `${lines[at]!.slot} ${tie.source}`, lanes) : null,
  );
  order(rows);
  spreadEnds(rows);
  courses.forEach((course, at) => {
    if (course) course[0]!.leaves = slotShift(boxes[ties[at]!.source]!, lines[at]!.slot);
  });
  straighten(rows);
  const left = Math.min(...items.map(({ x, breadth }) => x - breadth / 2));
  for (const item of rows.flat()) item.x -= left;
  const placed = boxes.map((box, part) => standing(box, items[part]!));
  return {
    boxes: placed,
    ways: courses.map((course, at) => (course ? wayOf(course, placed) : wayBack(placed, ties[at]!, lines[at]!.slot))),
    width: Math.max(...rows.flat().map(({ x, breadth }) => x + breadth / 2)),
    height: rows.length * (ROW + GAP) - GAP,
  };
}

/** Each above all that reads it: as near as can be to the centre, on its side of it. */
function assignRows(sorted: readonly number[], ties: readonly Tie[], centre: number): number[] {
  const rows = new Array<number>(sorted.length).fill(0);
  const above = new Set([centre]);
  for (const box of [...sorted].reverse()) {
    const readers = ties.filter(({ source, target }) => source === box && above.has(target));
    if (readers.length === 0) continue;
    above.add(box);
    rows[box] = Math.min(...readers.map(({ target }) => rows[target]!)) - 1;
  }
  for (const box of sorted) {
    if (above.has(box)) continue;
    const read = ties.filter(({ target }) => target === box);
    rows[box] = Math.max(0, ...read.map(({ source }) => rows[source]! + 1));
  }
  const first = Math.min(...rows);
  return rows.map((row) => row - first);
}

function put(rows: Rows, row: number, part: number, breadth: number): Item {
  const item: Item = { part, breadth, row, place: 0, x: 0, up: [], down: [] };
  rows[row]!.push(item);
  return item;
}

/** The pieces of a line from row to row; those of one slot run along each other as far as they have the same way. */
function run(rows: Rows, from: Item, to: Item, key: string, lanes: Map<string, Hop[]>): Hop[] {
  const lane = lanes.get(key) ?? [];
  lanes.set(key, lane);
  const join = (source: Item, target: Item): Hop => {
    const hop = { from: source, to: target, leaves: 0, arrives: 0 };
    source.down.push(hop);
    target.up.push(hop);
    return hop;
  };
  for (let row = from.row + lane.length + 1; row < to.row; row++) lane.push(join(lane.at(-1)?.to ?? from, put(rows, row, -1, 0)));
  const passed = lane.slice(0, to.row - from.row - 1);
  return [...passed, join(passed.at(-1)?.to ?? from, to)];
}

/** How far from the middle of its box a slot is. */
function slotShift(box: Sized, slot: number): number {
  const place = box.slots.findIndex((each) => each.slot === slot);
  if (place < 0) return 0;
  return slotStart(box, place) + box.slots[place]!.width / 2 - box.width / 2;
}

/** From the left side of the box to the one of a slot; they stand in the middle below it. */
function slotStart({ width, slots }: Sized, place: number): number {
  const step = (count: number) => slots.slice(0, count).reduce((sum, each) => sum + each.width + SLOT_GAP, 0);
  return Math.round((width - step(slots.length) + SLOT_GAP) / 2 + step(place));
}

function standing(box: Sized, { x, row, breadth }: Item): Placed {
  const left = Math.round(x - breadth / 2);
  const y = row * (ROW + GAP);
  const slots = box.slots.map(({ slot, width }, place) => ({
    slot,
    x: left + slotStart(box, place),
    y: y + NODE_HEIGHT,
    width,
    height: SLOT_HEIGHT,
  }));
  return { id: box.id, row, x: left, y, width: box.width, height: NODE_HEIGHT, slots };
}

/** Straight through the rows that it passes, bent between them. */
function wayOf(course: readonly Hop[], placed: readonly Placed[]): string {
  let path = "";
  for (const { from, to, leaves, arrives } of course) {
    const [x1, x2] = [from.x + leaves, to.x + arrives];
    const y1 = from.row * (ROW + GAP) + (from.part >= 0 ? bottomOf(placed[from.part]!) : ROW);
    const y2 = to.row * (ROW + GAP);
    path += path ? ` V${y1}` : `M${x1} ${y1}`;
    path += x1 === x2 ? ` V${y2}` : ` C${x1} ${y1 + BEND} ${x2} ${y2 - BEND} ${x2} ${y2}`;
  }
  return path;
}

function bottomOf({ slots }: Placed): number {
  return slots.length > 0 ? ROW : NODE_HEIGHT;
}

/** What goes back to a row above, or to the same one, swings out on the side. */
function wayBack(placed: readonly Placed[], tie: Tie, slot: number): string {
  const [from, to] = [placed[tie.source]!, placed[tie.target]!];
  const start = from.slots.find((each) => each.slot === slot) ?? from;
  const [x1, y1] = [start.x + start.width / 2, from.y + bottomOf(from)];
  const [x2, y2] = [to.x + to.width / 2, to.y];
  const side = Math.max(from.x + from.width, to.x + to.width) + GAP;
  return `M${x1} ${y1} C${x1} ${y1 + GAP} ${side} ${y1 + GAP} ${side} ${(y1 + y2) / 2} C${side} ${y2 - GAP} ${x2} ${y2 - GAP} ${x2} ${y2}`;
}
