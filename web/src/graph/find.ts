/** Questions to a scene: what stands for a name, what is next to a box, what keeps its place. */

import type { Box, Direction, Line, Point, Scene } from "./scene";

export type Side = "up" | "down" | "left" | "right";

/** The box that is the node or scope of this name, or the innermost one it lies in; -1 where there is none. */
export function boxOf(scene: Scene, places: ReadonlyMap<string, number>, name: string): number {
  for (let path = name; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) {
    const place = places.get(path) ?? stackOf(scene, path);
    if (place >= 0) return place;
  }
  return -1;
}

/** The closed stack that has a member of this name. */
function stackOf(scene: Scene, path: string): number {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const own = numbersOf(path);
  return scene.boxes.findIndex(({ node }) => {
    if (node.kind !== "stack" || node.parent !== parent) return false;
    const first = numbersOf(node.id.slice(0, -1));
    if (first.shape !== own.shape) return false;
    const last = numbersOf(node.name.replace(/\d+…/g, ""));
    const [a, b, c] = [first.numbers.at(-1) ?? 0, own.numbers.at(-1) ?? 0, last.numbers.at(-1) ?? 0];
    return first.numbers.length === 0 || (Math.min(a, c) <= b && b <= Math.max(a, c)) || node.op !== "";
  });
}

function numbersOf(name: string): { shape: string; numbers: number[] } {
  return { shape: name.replace(/\d+/g, "0"), numbers: (name.match(/\d+/g) ?? []).map(Number) };
}

export function placesOf(scene: Scene): Map<string, number> {
  return new Map(scene.boxes.map((box, place) => [box.node.id, place]));
}

/** Whether a box is another one, or lies in it. */
export function isWithin(scene: Scene, places: ReadonlyMap<string, number>, inner: number, outer: number): boolean {
  for (let at: number | undefined = inner; at !== undefined && at >= 0; at = places.get(scene.boxes[at]!.node.parent))
    if (at === outer) return true;
  return false;
}

/** The lines with one end in a box: into it and out of it. */
export function linesAt(scene: Scene, places: ReadonlyMap<string, number>, box: number): { into: Line[]; out: Line[] } {
  const inside = scene.boxes[box]!.node.open
    ? new Set(scene.boxes.flatMap((_, place) => (isWithin(scene, places, place, box) ? [place] : [])))
    : new Set([box]);
  const into: Line[] = [];
  const out: Line[] = [];
  for (const line of scene.lines) {
    const [leaves, enters] = [inside.has(line.source), inside.has(line.target)];
    if (leaves && !enters) out.push(line);
    if (enters && !leaves) into.push(line);
  }
  return { into, out };
}

const centre = (box: Box): Point => ({ x: box.x + box.width / 2, y: box.y + (box.node.open ? 16 : box.height / 2) });

/** Where an arrow key leads: along the flow to what comes next or before, across it to the nearest sibling. */
export function step(scene: Scene, places: ReadonlyMap<string, number>, from: number, side: Side): number {
  const box = scene.boxes[from]!;
  const isAlong = (scene.direction === "TB") === (side === "up" || side === "down");
  const forward = (side === "down" || side === "right") !== (box.node.role === "gradient");
  if (isAlong) {
    const { into, out } = linesAt(scene, places, from);
    const next = forward ? out.map((line) => line.target) : into.map((line) => line.source);
    const linked = nearest(scene, from, next.filter((place) => lies(scene, from, place, side)), side);
    if (linked >= 0) return linked;
  }
  const siblings = scene.boxes.flatMap(({ node }, place) => (node.parent === box.node.parent ? [place] : []));
  const beside = nearest(scene, from, siblings.filter((place) => lies(scene, from, place, side)), side);
  if (beside >= 0) return beside;
  if (side === "up" || side === "left") return places.get(box.node.parent) ?? -1;
  return nearest(scene, from, scene.boxes.map((_, place) => place).filter((place) => lies(scene, from, place, side)), side);
}

function lies(scene: Scene, from: number, place: number, side: Side): boolean {
  if (place === from) return false;
  const [a, b] = [centre(scene.boxes[from]!), centre(scene.boxes[place]!)];
  const by = { up: a.y - b.y, down: b.y - a.y, left: a.x - b.x, right: b.x - a.x }[side];
  return by > 4;
}

/** The nearest one on that side; what is off to the side counts twice. */
function nearest(scene: Scene, from: number, candidates: readonly number[], side: Side): number {
  const origin = centre(scene.boxes[from]!);
  const weight = side === "up" || side === "down" ? { x: 2, y: 1 } : { x: 1, y: 2 };
  let [best, least] = [-1, Infinity];
  for (const place of candidates) {
    const point = centre(scene.boxes[place]!);
    const distance = Math.abs(point.x - origin.x) * weight.x + Math.abs(point.y - origin.y) * weight.y;
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}

/**
 * How far the picture must move so that what was opened, closed or paged stays where it was; or, where nothing of it is
 * in sight, whatever is. Null: nothing of the old picture is left.
 */
export function shiftBetween(before: Scene, after: Scene, isInSight: (box: Box) => boolean): Point | null {
  const places = placesOf(after);
  let kept: Point | null = null;
  let isKeptInSight = false;
  for (const old of before.boxes) {
    const place = places.get(old.node.id);
    if (place === undefined) continue;
    const now = after.boxes[place]!;
    const hasChanged = now.node.open !== old.node.open || now.node.offset !== old.node.offset;
    if (hasChanged && isInSight(old)) return shift(old, now);
    if (!kept || (!isKeptInSight && !old.node.open && isInSight(old))) {
      isKeptInSight = !old.node.open && isInSight(old);
      kept = shift(old, now);
    }
  }
  return kept;
}

function shift(old: Box, now: Box): Point {
  return { x: now.x - old.x, y: now.y - old.y };
}

export function turn(direction: Direction): Direction {
  return direction === "TB" ? "LR" : "TB";
}
