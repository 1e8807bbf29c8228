/** The ways of lines, as SVG path data. */

import { ROLES } from "./arrange";
import type { Flow, Role } from "./group";
import type { Box, Direction, Point, Rect } from "./scene";

const RADIUS = 6;
const NEAR = 90;
const NEARLY = 4; // pixels aside that are no corner

/** A polyline with round corners, without pieces of no length: an arrow's head would not know where to point. */
export function rounded(all: readonly Point[]): string {
  const points = all.filter((point, index) => index === 0 || distance(point, all[index - 1]!) > 0.01);
  const [first, ...rest] = points;
  if (!first) return "";
  let path = "";
  let last = first;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (!next) {
      path += ` L${show(point)}`;
      return;
    }
    const before = toward(point, last, Math.min(RADIUS, distance(point, last) / 2));
    const after = toward(point, next, Math.min(RADIUS, distance(point, next) / 2));
    path += ` L${show(before)} Q${show(point)} ${show(after)}`;
    last = point;
  });
  return path;
}

/** A curve that leaves and arrives along the flow. */
export function curve(from: Point, to: Point, flow: Flow): string {
  const isVertical = flow === "DOWN" || flow === "UP";
  const sign = flow === "DOWN" || flow === "RIGHT" ? 1 : -1;
  const reach = sign * Math.min(160, Math.max(24, Math.abs(isVertical ? to.y - from.y : to.x - from.x) / 2));
  const leave = isVertical ? { x: from.x, y: from.y + reach } : { x: from.x + reach, y: from.y };
  const arrive = isVertical ? { x: to.x, y: to.y - reach } : { x: to.x - reach, y: to.y };
  return ` C${show(leave)} ${show(arrive)} ${show(to)}`;
}

/** The middle of the side at which a flow leaves a box, or comes in. */
export function port(box: Rect, flow: Flow, leaves: boolean, share = 0.5): Point {
  const far = (flow === "DOWN" || flow === "RIGHT") === leaves;
  return flow === "DOWN" || flow === "UP"
    ? { x: box.x + box.width * share, y: far ? box.y + box.height : box.y }
    : { x: far ? box.x + box.width : box.x, y: box.y + box.height * share };
}

/**
 * A line within one group: out of the boxes around its source, along the way that ELK found between two children, into
 * the boxes around its target. `segments` are these ways as far as they are known; `from` and `to` the ends where the
 * first or the last one is not.
 */
export function throughGroup(
  segments: readonly (readonly Point[])[],
  from: Point | null,
  to: Point | null,
  flow: Flow,
): string {
  const first = from ?? segments[0]![0]!;
  let path = `M${show(first)}`;
  let last = first;
  for (const segment of segments) {
    if (distance(last, segment[0]!) > 1) path += joint(last, segment[0]!, flow);
    path += rounded(segment);
    last = segment[segment.length - 1]!;
  }
  return to ? path + joint(last, to, flow) : path;
}

/** From one way to the next: with corners where they are near, along the flow, else a curve. */
function joint(from: Point, to: Point, flow: Flow): string {
  const isVertical = flow === "DOWN" || flow === "UP";
  const sign = flow === "DOWN" || flow === "RIGHT" ? 1 : -1;
  const ahead = sign * (isVertical ? to.y - from.y : to.x - from.x);
  const aside = Math.abs(isVertical ? to.x - from.x : to.y - from.y);
  if (ahead > 0 && aside <= NEARLY) return ` L${show(to)}`;
  if (ahead <= 0 || ahead > NEAR) return curve(from, to, flow);
  const turn = isVertical ? from.y + (sign * ahead) / 2 : from.x + (sign * ahead) / 2;
  return rounded(
    isVertical
      ? [from, { x: from.x, y: turn }, { x: to.x, y: turn }, to]
      : [from, { x: turn, y: from.y }, { x: turn, y: to.y }, to],
  );
}

export interface Crossing {
  line: number;
  source: Box;
  target: Box;
  sourceRole: Role;
  targetRole: Role;
}

export interface Crossed {
  line: number;
  path: string;
  from: Point;
  to: Point;
}

/** Lines between groups: across the flow, out of the sides that face each other, spread over these sides. */
export function acrossGroups(crossings: readonly Crossing[], direction: Direction): Crossed[] {
  const sides = new Map<string, { crossing: Crossing; leaves: boolean; other: number }[]>();
  const flows = crossings.map(({ sourceRole, targetRole }): Flow => {
    const onward = ROLES.indexOf(sourceRole) < ROLES.indexOf(targetRole);
    return direction === "TB" ? (onward ? "RIGHT" : "LEFT") : onward ? "DOWN" : "UP";
  });
  const middle = (box: Rect) => (direction === "TB" ? box.y + box.height / 2 : box.x + box.width / 2);
  crossings.forEach((crossing, index) => {
    const flow = flows[index]!;
    const far = flow === "RIGHT" || flow === "DOWN";
    for (const leaves of [true, false]) {
      const [own, other] = leaves ? [crossing.source, crossing.target] : [crossing.target, crossing.source];
      const key = `${far === leaves} ${own.node.id}`;
      const list = sides.get(key) ?? [];
      list.push({ crossing, leaves, other: middle(other) });
      sides.set(key, list);
    }
  });
  const shares = new Map<Crossing, { out: number; in: number }>();
  for (const list of sides.values()) {
    list.sort((a, b) => a.other - b.other || Number(b.leaves) - Number(a.leaves));
    list.forEach(({ crossing, leaves }, index) => {
      const share = (index + 1) / (list.length + 1);
      const known = shares.get(crossing) ?? { out: 0.5, in: 0.5 };
      shares.set(crossing, leaves ? { ...known, out: share } : { ...known, in: share });
    });
  }
  return crossings.map((crossing, index) => {
    const flow = flows[index]!;
    const share = shares.get(crossing)!;
    const from = port(crossing.source, flow, true, share.out);
    const to = port(crossing.target, flow, false, share.in);
    return { line: crossing.line, path: `M${show(from)}${curve(from, to, flow)}`, from, to };
  });
}

/** Half the way along a polyline. */
export function middleOf(points: readonly Point[]): Point {
  const lengths = points.slice(1).map((point, index) => distance(point, points[index]!));
  let left = lengths.reduce((sum, length) => sum + length, 0) / 2;
  for (const [index, length] of lengths.entries()) {
    if (left <= length) return toward(points[index]!, points[index + 1]!, left);
    left -= length;
  }
  return points[0]!;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** The point `length` from `from` on the way to `to`, or `to` where that is nearer. */
function toward(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to);
  const share = whole === 0 ? 0 : Math.min(length, whole) / whole;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function show({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
}
