/**
 * The columns of a group filled: its parts in their layers, and between them the places where lines pass. Lines from the
 * same part run along each other as far as they have the same way.
 */

import type { Part, Tie } from "./layers";

/** What lies in a layer: a part of the group, or the place where lines pass. */
export interface Item {
  /** -1 where only lines pass. */
  part: number;
  breadth: number;
  /** The number of its layer in its column, and its place in it. */
  row: number;
  place: number;
  /** The middle. */
  x: number;
  up: Hop[];
  down: Hop[];
}

/** A piece of a line between two layers; the shifts say how far from the middles of its items it ends. */
export interface Hop {
  from: Item;
  to: Item;
  leaves: number;
  arrives: number;
}

/** The way of a line, in one column or in two. */
export interface Course {
  tie: number;
  stretches: { column: number; hops: Hop[] }[];
}

/** A line from what runs later to what ran before: it goes round what is between them, beside the columns. */
export interface Back {
  tie: number;
  from: Item;
  to: Item;
  /** The columns of both. */
  leaves: number;
  arrives: number;
}

/** The lines of one part that go on from a column to a later one. */
export interface Wrap {
  exit: Item;
  entry: Item;
  from: number;
  to: number;
}

/** The layers of a column: in the first one lines come in, through the last one they leave. */
export type Rows = Item[][];

/** Where the lines of one part pass in one column, from layer `first` on. */
interface Lane {
  first: number;
  items: Item[];
  hops: Hop[];
}

export interface Filled {
  columns: Rows[];
  courses: Course[];
  backs: Back[];
  wraps: Wrap[];
}

export function fill(
  parts: readonly Part[],
  ties: readonly Tie[],
  layers: readonly number[],
  starts: readonly number[],
): Filled {
  const last = Math.max(...layers);
  const columns = starts.map((start, index): Rows => {
    const length = (starts[index + 1] ?? last + 1) - start;
    return Array.from({ length: length + 2 }, () => []);
  });
  const columnOf = (part: number) => starts.findLastIndex((start) => start <= layers[part]!);
  const put = (column: number, row: number, part: number, breadth: number): Item => {
    const item: Item = { part, breadth, row, place: 0, x: 0, up: [], down: [] };
    columns[column]![row]!.push(item);
    return item;
  };
  const items = parts.map(({ breadth }, part) => {
    const column = columnOf(part);
    return put(column, layers[part]! - starts[column]! + 1, part, breadth);
  });
  const join = (from: Item, to: Item): Hop => {
    const hop = { from, to, leaves: 0, arrives: 0 };
    from.down.push(hop);
    to.up.push(hop);
    return hop;
  };

  const lanes = new Map<string, Lane>();
  const wraps = new Map<string, Wrap>();
  /** The lane, down to a layer. */
  const lane = (key: string, column: number, from: Item | null, row: number): Lane => {
    const known = lanes.get(`${key} ${column}`) ?? { first: from ? from.row + 1 : 0, items: [], hops: [] };
    lanes.set(`${key} ${column}`, known);
    for (let next = known.first + known.items.length; next <= row; next++) {
      const before = known.items[known.items.length - 1] ?? from;
      const item = put(column, next, -1, 0);
      known.items.push(item);
      if (before) known.hops.push(join(before, item));
    }
    return known;
  };
  const reach = (key: string, column: number, from: Item | null, to: Item): Hop[] => {
    const { first, items: passed, hops } = lane(key, column, from, to.row - 1);
    const before = to.row - 1 >= first ? passed[to.row - 1 - first]! : from!;
    return [...hops.slice(0, to.row - first - (from ? 0 : 1)), join(before, to)];
  };
  const courses: Course[] = [];
  const backs: Back[] = [];
  ties.forEach(({ source, target }, tie) => {
    const [from, to] = [items[source]!, items[target]!];
    const [first, end] = [columnOf(source), columnOf(target)];
    if (source > target) {
      backs.push({ tie, from, to, leaves: first, arrives: end });
      return;
    }
    const key = String(source);
    if (first === end) {
      courses.push({ tie, stretches: [{ column: first, hops: reach(key, first, from, to) }] });
      return;
    }
    const leaving = lane(key, first, from, columns[first]!.length - 1);
    const into = reach(key, end, null, to);
    const exit = leaving.items[leaving.items.length - 1]!;
    const entry = lanes.get(`${key} ${end}`)!.items[0]!;
    wraps.set(`${key} ${end}`, { exit, entry, from: first, to: end });
    const stretches = [
      { column: first, hops: leaving.hops.slice() },
      { column: end, hops: into },
    ];
    courses.push({ tie, stretches });
  });
  return { columns, courses, backs, wraps: [...wraps.values()] };
}
