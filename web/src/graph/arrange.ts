/**
 * The children of one open box put in their places, in coordinates of the box.
 *
 * Children of one role (forward, gradient, optimizer) are one group, laid out by ELK; the groups stand side by side,
 * across the direction of the flow. The gradients' flow goes against the forward flow, as it does in the training.
 */

import type { ElkNode } from "elkjs/lib/elk-api";
import type { Direction, Point, ViewNode } from "./scene";
import { chainOf, inColumns, inRows, type Placed } from "./simple";
import { labelSize } from "./sizes";
import { isVertical, solverGraph } from "./solver";

export type Elk = (graph: ElkNode) => Promise<ElkNode>;
export type Role = ViewNode["role"];
export type Flow = "DOWN" | "UP" | "RIGHT" | "LEFT";

export interface Child {
  width: number;
  height: number;
  role: Role;
  /** Lines come to it from outside the box, or leave the box from it. */
  isEntry: boolean;
  isExit: boolean;
}

/** `source` and `target` are places among the children. */
export interface Link {
  source: number;
  target: number;
  text: string;
}

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
export type Cache = Map<string, Promise<Arrangement>>;

/** From left to right. Most lines run between the forward flow and the gradients: nothing stands between these. */
export const ROLES: readonly Role[] = ["optimizer", "forward", "gradient"];
const GAP = 48; // between groups, at least
const GATED = 60; // children without lines among them that get ways to the outside
const KEPT = 2000;

export function flowOf(role: Role, direction: Direction): Flow {
  if (direction === "TB") return role === "gradient" ? "UP" : "DOWN";
  return role === "gradient" ? "LEFT" : "RIGHT";
}

export function arrange(
  children: Child[],
  links: Link[],
  direction: Direction,
  elk: Elk,
  cache: Cache,
): Promise<Arrangement> {
  const key = JSON.stringify([direction, children, links]);
  const known = cache.get(key);
  if (known) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const made = place(children, links, direction, elk);
  cache.set(key, made);
  made.catch(() => cache.delete(key));
  for (const old of cache.keys()) {
    if (cache.size <= KEPT) break;
    cache.delete(old);
  }
  return made;
}

async function place(children: Child[], links: Link[], direction: Direction, elk: Elk): Promise<Arrangement> {
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
    if (members.length > 0) groups.push(await layOutGroup(children, links, members, flowOf(role, direction), elk));
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

async function layOutGroup(
  children: Child[],
  links: Link[],
  members: number[],
  flow: Flow,
  elk: Elk,
): Promise<Placed> {
  const inGroup = new Set(members);
  const inside = links.flatMap((link, index) =>
    inGroup.has(link.source) && inGroup.has(link.target) ? [index] : [],
  );
  const isPassed = members.some((index) => children[index]!.isEntry || children[index]!.isExit);
  if (inside.length === 0 && (members.length > GATED || !isPassed))
    return inRows(children, members, isVertical(flow) ? 1.6 : 1.9);
  const chain = chainOf(links, members, inside);
  if (chain) return inColumns(children, links, chain, flow);
  const graph = solverGraph(children, links, members, flow);
  const laid = await elk(graph);
  const at = new Map<number, Point>();
  for (const { id, x = 0, y = 0 } of laid.children ?? []) if (id[0] === "n") at.set(Number(id.slice(1)), { x, y });
  const routes = new Map<number, Point[]>();
  const [entries, exits] = [new Map<number, Point[]>(), new Map<number, Point[]>()];
  const ways: Record<string, Map<number, Point[]>> = { e: routes, i: entries, o: exits };
  for (const edge of laid.edges ?? []) {
    const section = edge.sections?.[0];
    if (!section) continue;
    const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }) => ({ x, y }));
    ways[edge.id[0]!]?.set(Number(edge.id.slice(1)), points);
  }
  return { width: laid.width ?? 0, height: laid.height ?? 0, at, routes, entries, exits };
}

function move(point: Point, by: Point): Point {
  return { x: point.x + by.x, y: point.y + by.y };
}
