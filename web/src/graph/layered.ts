/**
 * A group laid out in layers: what is read stands above what reads it. In coordinates of a flow that runs down: x is
 * across it, y along it.
 */

import { type Back, type Course, fill, type Hop, type Item, type Rows, type Wrap } from "./courses";
import { assignLayers, COLUMN_GAP, cutIntoColumns, inOrder, type Part, SPACE, type Tie } from "./layers";
import { order, spreadEnds, straighten } from "./ordering";
import type { Point } from "./scene";
import { assignTracks } from "./tracks";

export interface Layered {
  width: number;
  height: number;
  /** Corners of the parts. */
  at: Point[];
  /** By tie, the corners of its way; null for those from a part to itself. */
  ways: (Point[] | null)[];
}

const TRACK = 10; // between two lines side by side
const MARGIN = 12; // between lines and what they run along
const OPEN = 280; // pixels from which on only open boxes are as broad
const SLACK = 1.3; // how much broader than it should be a row may become

interface Column {
  rows: Rows;
  right: number;
  bottom: number;
  /** Of each layer: where it begins, and how long it is. */
  tops: number[];
  lengths: number[];
  /** Where the lines between a layer and the next one turn. */
  turns: Map<Hop, number>;
  /** Where lines that go back leave their layer, and come to it: between it and the next one, or the one before. */
  leaving: Map<Back, number>;
  arriving: Map<Back, number>;
  /** Of lines that go back beside it. */
  lanes: Map<Back, number>;
}

/**
 * `parts` are in the order in which they run. `gap` is what is left free between layers, at least; `aspect` how many
 * times as broad as long the whole should be.
 */
export function inLayers(parts: readonly Part[], ties: readonly Tie[], gap: number, aspect: number): Layered {
  const rank = new Array<number>(parts.length);
  inOrder(parts.length, ties.filter(({ source, target }) => source !== target)).forEach((part, place) => (rank[part] = place));
  const laid = components(parts.length, ties).map((members) => {
    members.sort((a, b) => rank[a]! - rank[b]!);
    const places = new Map(members.map((part, place) => [part, place]));
    const own = ties.flatMap((tie, index) => (places.has(tie.source) && tie.source !== tie.target ? [index] : []));
    const inside = own.map((index): Tie => {
      const { source, target } = ties[index]!;
      return { source: places.get(source)!, target: places.get(target)! };
    });
    return { members, own, ...layOutConnected(members.map((part) => parts[part]!), inside, gap, aspect) };
  });
  const at: Point[] = parts.map(() => ({ x: 0, y: 0 }));
  const ways: (Point[] | null)[] = ties.map(() => null);
  const size = inRows(laid, aspect, (one, shift) => {
    const move = ({ x, y }: Point): Point => ({ x: x + shift.x, y: y + shift.y });
    one.members.forEach((part, place) => (at[part] = move(one.at[place]!)));
    one.own.forEach((tie, place) => (ways[tie] = one.ways[place]!.map(move)));
  });
  return { ...size, at, ways };
}

/** What lines hold together, in order of the first part. */
function components(count: number, ties: readonly Tie[]): number[][] {
  const leader = Array.from({ length: count }, (_, part) => part);
  const find = (part: number): number => {
    while (leader[part] !== part) part = leader[part] = leader[leader[part]!]!;
    return part;
  };
  for (const { source, target } of ties) leader[Math.max(find(source), find(target))] = Math.min(find(source), find(target));
  const groups = new Map<number, number[]>();
  for (let part = 0; part < count; part++) {
    const known = groups.get(find(part));
    if (known) known.push(part);
    else groups.set(part, [part]);
  }
  return [...groups.values()];
}

/** Rows of about the same width, in order. */
function inRows<T extends { width: number; height: number }>(
  all: readonly T[],
  aspect: number,
  put: (one: T, at: Point) => void,
): { width: number; height: number } {
  const area = all.reduce((sum, one) => sum + (one.width + SPACE) * (one.height + SPACE), 0);
  const room = Math.max(...all.map((one) => one.width), Math.sqrt(area * aspect));
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  for (const one of all) {
    if (x > 0 && x + one.width > room * SLACK) [x, y, rowHeight] = [0, y + rowHeight + SPACE, 0];
    put(one, { x, y });
    x += one.width + SPACE;
    rowHeight = Math.max(rowHeight, one.height);
    width = Math.max(width, x - SPACE);
  }
  return { width, height: y + rowHeight };
}

function layOutConnected(parts: readonly Part[], ties: readonly Tie[], gap: number, aspect: number) {
  const layers = assignLayers(parts, ties);
  const starts = cutIntoColumns(parts, ties, layers, gap, aspect);
  const { columns: filled, courses, backs, wraps } = fill(parts, ties, layers, starts);
  for (const rows of filled) {
    order(rows);
    spreadEnds(rows);
    straighten(rows);
  }
  const into = filled.map((_, column) => nested(wraps.filter(({ to }) => to === column)));
  const most = Math.max(...into.map((lines) => lines.length));
  const over = backs.filter(({ leaves, arrives }) => leaves !== arrives);
  const top = most + over.length > 0 ? 2 * MARGIN + (most + over.length) * TRACK : 0; // lines come in from above
  let left = 0;
  const columns = filled.map((rows, index) => {
    const column = stand(rows, parts, gap, top, left, backs.filter((back) => back.leaves === index || back.arrives === index), index); // prettier-ignore
    left = column.right + Math.max(COLUMN_GAP, 2 * MARGIN + ((into[index + 1]?.length ?? 0) + 1) * TRACK);
    return column;
  });
  const at: Point[] = parts.map(() => ({ x: 0, y: 0 }));
  for (const { rows, tops, lengths } of columns)
    for (const { part, x, breadth, row } of rows.flat())
      if (part >= 0) at[part] = { x: x - breadth / 2, y: tops[row]! + (lengths[row]! - parts[part]!.length) / 2 };
  const detours = between(into, columns, top);
  const ways: Point[][] = ties.map(() => []);
  for (const course of courses) ways[course.tie] = wayOf(course, columns, at, parts, detours);
  for (const back of backs) ways[back.tie] = wayBack(back, columns, at, parts, MARGIN + over.indexOf(back) * TRACK);
  const corners = ways.flat();
  const leftmost = Math.min(0, ...corners.map(({ x }) => x));
  return {
    width: Math.max(columns[columns.length - 1]!.right, ...corners.map(({ x }) => x)) - leftmost,
    height: Math.max(...columns.map(({ bottom }) => bottom), ...corners.map(({ y }) => y)),
    at: at.map(({ x, y }) => ({ x: x - leftmost, y })),
    ways: ways.map((way) => way.map(({ x, y }) => ({ x: x - leftmost, y }))),
  };
}

/** Puts the layers of a column below each other, with room for the lines that turn between them. */
function stand(
  rows: Rows,
  parts: readonly Part[],
  gap: number,
  top: number,
  left: number,
  backs: readonly Back[],
  index: number,
): Column {
  const all = rows.flat();
  const shift = left - Math.min(...all.map(({ x, breadth }) => x - breadth / 2));
  for (const item of all) item.x += shift;
  const right = Math.max(...all.map(({ x, breadth }) => x + breadth / 2));
  const column: Column = {
    rows, right, bottom: 0, tops: [], lengths: [], turns: new Map(), leaving: new Map(), arriving: new Map(), lanes: new Map(),
  }; // prettier-ignore
  [...backs]
    .sort((a, b) => Math.abs(a.from.row - a.to.row) - Math.abs(b.from.row - b.to.row))
    .forEach((back, place) => column.lanes.set(back, right + MARGIN + place * TRACK));
  if (backs.length > 0) column.right += MARGIN + backs.length * TRACK;
  const hasParts = (row: readonly Item[] = []) => row.some(({ part }) => part >= 0 && !parts[part]!.gate);
  let y = top;
  rows.forEach((row, number) => {
    const length = Math.max(0, ...row.map(({ part }) => (part >= 0 ? parts[part]!.length : 0)));
    column.tops.push(y);
    column.lengths.push(length);
    y += length;
    const { tracks, count } = assignTracks(row.flatMap(({ down }) => down));
    for (const [hop, track] of tracks) column.turns.set(hop, y + MARGIN + track * TRACK);
    let used = count;
    for (const back of backs) {
      const next = () => y + MARGIN + used++ * TRACK;
      if (back.arrives === index && back.to.row === number + 1) column.arriving.set(back, next());
      if (back.leaves === index && back.from.row === number) column.leaving.set(back, next());
    }
    y += Math.max(hasParts(row) && hasParts(rows[number + 1]) ? gap : 0, used > 0 ? 2 * MARGIN + (used - 1) * TRACK : 0);
  });
  column.bottom = y;
  return column;
}

/** Those that leave nearest to the column come first, so that each runs inside of the next one. */
function nested(wraps: Wrap[]): Wrap[] {
  return wraps.sort((a, b) => b.from - a.from || b.exit.x - a.exit.x);
}

/** The corners of lines between two columns: below the one, up beside the other, and in from above. */
function between(into: readonly Wrap[][], columns: readonly Column[], top: number): Map<Item, Point[]> {
  const detours = new Map<Item, Point[]>();
  const deepest = Math.max(...columns.map(({ bottom }) => bottom));
  let below = into.reduce((most, lines) => Math.max(most, lines.length), 0); // lines under columns that are not theirs
  into.forEach((lines, to) =>
    lines.forEach(({ exit, entry, from }, place) => {
      const low = MARGIN + (from === to - 1 ? columns[from]!.bottom + place * TRACK : deepest + ++below * TRACK);
      const x = columns[to - 1]!.right + MARGIN + (place + 1) * TRACK;
      const high = top - MARGIN - place * TRACK;
      detours.set(entry, [
        { x: exit.x, y: low },
        { x, y: low },
        { x, y: high },
        { x: entry.x, y: high },
      ]);
    }),
  );
  return detours;
}

function wayOf(
  { stretches }: Course,
  columns: readonly Column[],
  at: readonly Point[],
  parts: readonly Part[],
  detours: ReadonlyMap<Item, Point[]>,
): Point[] {
  const points: Point[] = [];
  for (const { column, hops } of stretches) {
    points.push(...(detours.get(hops[0]!.from) ?? []));
    for (const hop of hops) {
      const { from, to, leaves, arrives } = hop;
      const [x1, x2] = [from.x + leaves, to.x + arrives];
      if (from.part >= 0) points.push({ x: x1, y: at[from.part]!.y + parts[from.part]!.length });
      const turn = columns[column]!.turns.get(hop);
      if (turn !== undefined) points.push({ x: x1, y: turn }, { x: x2, y: turn });
      if (to.part >= 0) points.push({ x: x2, y: at[to.part]!.y });
    }
  }
  return points.filter((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    if (!before || !after) return true;
    return !(before.x === point.x && point.x === after.x) && !(before.y === point.y && point.y === after.y);
  });
}

/** Out below, up beside the column, and in from above; to another column over the tops of both. */
function wayBack(
  back: Back,
  columns: readonly Column[],
  at: readonly Point[],
  parts: readonly Part[],
  high: number,
): Point[] {
  const { from, to, leaves, arrives } = back;
  const [first, last] = [columns[leaves]!, columns[arrives]!];
  // Where it is nearest to the way up, but not over the buttons in the corner of what is open.
  const side = ({ x, breadth }: Item) => x + Math.max(0, breadth / 2 - (breadth > OPEN ? 5 : 2) * MARGIN);
  const [low, end] = [first.leaving.get(back)!, last.arriving.get(back)!];
  const lane = first.lanes.get(back)!;
  const over = leaves === arrives ? [] : [{ x: lane, y: high }, { x: last.lanes.get(back)!, y: high }]; // prettier-ignore
  const down = leaves === arrives ? lane : last.lanes.get(back)!;
  return [
    { x: side(from), y: at[from.part]!.y + parts[from.part]!.length },
    { x: side(from), y: low },
    { x: lane, y: low },
    ...over,
    { x: down, y: end },
    { x: side(to), y: end },
    { x: side(to), y: at[to.part]!.y },
  ];
}
