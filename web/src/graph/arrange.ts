/**
 * The children of one open box put in their places, in coordinates of the box.
 *
 * Children of one role (forward, gradient, optimizer) are one group, laid out in layers; the groups stand side by side,
 * across the direction of the flow. The gradients' flow goes against the forward flow, as it does in the training.
 */

import { type Child, type Flow, layOutGroup, type Link, type Placed, type Role } from "./group";
import type { Direction, Point } from "./scene";
import { labelSize } from "./sizes";

export interface Arrangement {
  width: number;
  height: number;
  at: Point[];
  /** By link, the corners of its way; null where the two are in different groups. */
  routes: (Point[] | null)[];
  /** By child: from where the flow comes into the box to the child, and from the child to where it leaves. */
  entries: Map<number, Point[]>;
  exits: Map<number, Point[]>;
}

/** Arrangements by what went in, so that layers which are alike are laid out once. */
export type Cache = Map<string, Arrangement>;

/** From left to right. Most lines run between the forward flow and the gradients: nothing stands between these. */
export const ROLES: readonly Role[] = ["optimizer", "forward", "gradient"];
const GAP = 48; // between groups, at least
const KEPT = 2000;

export function flowOf(role: Role, direction: Direction): Flow {
  if (direction === "TB") return role === "gradient" ? "UP" : "DOWN";
  return role === "gradient" ? "LEFT" : "RIGHT";
}

export function arrange(children: Child[], links: Link[], direction: Direction, cache: Cache): Arrangement {
  const key = JSON.stringify([direction, children, links]);
  const known = cache.get(key);
  if (known) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const made = place(children, links, direction);
  cache.set(key, made);
  for (const old of cache.keys()) {
    if (cache.size <= KEPT) break;
    cache.delete(old);
  }
  return made;
}

function place(children: Child[], links: Link[], direction: Direction): Arrangement {
  const at: Point[] = children.map(() => ({ x: 0, y: 0 }));
  const routes: (Point[] | null)[] = links.map(() => null);
  const gap = links.reduce((width, link) => {
    const crosses = children[link.source]!.role !== children[link.target]!.role;
    const needed = direction === "TB" ? labelSize(link.text).width + 28 : 40;
    return crosses && link.text ? Math.max(width, needed) : width;
  }, GAP);
  const [entries, exits] = [new Map<number, Point[]>(), new Map<number, Point[]>()];
  const groups: Placed[] = [];
  for (const role of ROLES) {
    const members = children.flatMap((child, index) => (child.role === role ? [index] : []));
    if (members.length > 0) groups.push(layOutGroup(children, links, members, flowOf(role, direction)));
  }
  const along = Math.max(0, ...groups.map((laid) => (direction === "TB" ? laid.height : laid.width)));
  let across = 0;
  for (const laid of groups) {
    const middle = (along - (direction === "TB" ? laid.height : laid.width)) / 2;
    const shift = direction === "TB" ? { x: across, y: middle } : { x: middle, y: across };
    for (const [index, point] of laid.at) at[index] = move(point, shift);
    for (const [index, points] of laid.routes) routes[index] = points.map((point) => move(point, shift));
    for (const [index, points] of laid.entries) entries.set(index, points.map((point) => move(point, shift)));
    for (const [index, points] of laid.exits) exits.set(index, points.map((point) => move(point, shift)));
    across += (direction === "TB" ? laid.width : laid.height) + gap;
  }
  across = Math.max(0, across - gap);
  return direction === "TB"
    ? { width: across, height: along, at, routes, entries, exits }
    : { width: along, height: across, at, routes, entries, exits };
}

function move(point: Point, by: Point): Point {
  return { x: point.x + by.x, y: point.y + by.y };
}
