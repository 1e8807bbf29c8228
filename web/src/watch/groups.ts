/** The rows of the list of hits: the hits of each graph below a line with its name. Only counts are needed to know which row is which. */

export interface Group {
  graph: string;
  total: number;
}

export type HitRowAt = { kind: "graph"; group: Group } | { kind: "hit"; at: number };

/** Lines of names are left out where there is one graph only. */
export function rowCount(groups: readonly Group[]): number {
  const hits = groups.reduce((sum, { total }) => sum + total, 0);
  return groups.length > 1 ? hits + groups.length : hits;
}

/** What stands in a row; `at` counts the hits from 0, through all graphs. */
export function rowAt(groups: readonly Group[], row: number): HitRowAt {
  if (groups.length <= 1) return { kind: "hit", at: row };
  let first = 0; // row of the group's name
  let hits = 0;
  for (const group of groups) {
    if (row === first) return { kind: "graph", group };
    if (row <= first + group.total) return { kind: "hit", at: hits + row - first - 1 };
    first += group.total + 1;
    hits += group.total;
  }
  return { kind: "hit", at: hits };
}

/** The row of a hit. */
export function rowOfHit(groups: readonly Group[], at: number): number {
  if (groups.length <= 1) return at;
  let names = 0;
  let hits = 0;
  for (const { total } of groups) {
    names++;
    hits += total;
    if (at < hits) break;
  }
  return at + names;
}
