/**
 * The children of one open box put in their places, in coordinates of the box.
 *
 * Children of one role (forward, gradient, optimizer) are one group, laid out by ELK; the groups stand side by side,
 * across the direction of the flow. The gradients' flow goes against the forward flow, as it does in the training.
 */

import type { ElkExtendedEdge, ElkNode, LayoutOptions } from "elkjs/lib/elk-api";
import type { Direction, Label, Point, ViewNode } from "./scene";
import { chainOf, inColumns, inRows, type Placed } from "./simple";
import { labelSize } from "./sizes";

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

export interface Route {
  points: Point[];
  label: Label | null;
}

export interface Arrangement {
  width: number;
  height: number;
  at: Point[];
  /** By link; null where the two are in different groups. */
  routes: (Route | null)[];
  /** By child: from where the flow comes into the box to the child, and from the child to where it leaves. */
  entries: Map<number, Point[]>;
  exits: Map<number, Point[]>;
}

/** Arrangements by what went in, so that layers which are alike are laid out once. */
export type Cache = Map<string, Promise<Arrangement>>;

/** From left to right. Most lines run between the forward flow and the gradients: nothing stands between these. */
export const ROLES: readonly Role[] = ["optimizer", "forward", "gradient"];
const GAP = 48; // between groups, at least
const WRAPPED = 12; // children from which on what is nearly a chain is folded
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
  const routes: (Route | null)[] = links.map(() => null);
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
    for (const [index, { points, label }] of laid.routes) {
      routes[index] = {
        points: points.map((point) => move(point, shift)),
        label: label && { ...label, ...move(label, shift) },
      };
    }
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
  const entering = members.filter((index) => children[index]!.isEntry);
  const leaving = members.filter((index) => children[index]!.isExit);
  if (inside.length === 0 && (members.length > GATED || entering.length + leaving.length === 0))
    return inRows(children, members, isVertical(flow) ? 1.6 : 1.9);
  const chain = chainOf(links, members, inside);
  if (chain) return inColumns(children, links, chain, flow);
  const graph: ElkNode = {
    id: "root",
    layoutOptions: options(members.length, inside.length, flow),
    children: [
      ...gate("in", "FIRST_SEPARATE", entering.length, flow),
      ...members.map((index) => ({
        id: `n${index}`,
        width: children[index]!.width,
        height: children[index]!.height,
      })),
      ...gate("out", "LAST_SEPARATE", leaving.length, flow),
    ],
    edges: [
      ...entering.map((index): ElkExtendedEdge => ({ id: `i${index}`, sources: ["in"], targets: [`n${index}`] })),
      ...inside.map((index): ElkExtendedEdge => {
        const { source, target, text } = links[index]!;
        return {
          id: `e${index}`,
          sources: [`n${source}`],
          targets: [`n${target}`],
          labels: text ? [{ text, ...labelSize(text) }] : [],
        };
      }),
      ...leaving.map((index): ElkExtendedEdge => ({ id: `o${index}`, sources: [`n${index}`], targets: ["out"] })),
    ],
  };
  const laid = await elk(graph);
  const at = new Map<number, Point>();
  for (const { id, x = 0, y = 0 } of laid.children ?? []) if (id[0] === "n") at.set(Number(id.slice(1)), { x, y });
  const routes = new Map<number, Route>();
  const [entries, exits] = [new Map<number, Point[]>(), new Map<number, Point[]>()];
  for (const edge of laid.edges ?? []) {
    const section = edge.sections?.[0];
    if (!section) continue;
    const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }) => ({ x, y }));
    const index = Number(edge.id.slice(1));
    if (edge.id[0] === "i") entries.set(index, points);
    if (edge.id[0] === "o") exits.set(index, points);
    if (edge.id[0] !== "e") continue;
    const label = edge.labels?.[0];
    routes.set(index, {
      points,
      label: label
        ? {
            text: label.text ?? "",
            x: label.x ?? 0,
            y: label.y ?? 0,
            width: label.width ?? 0,
            height: label.height ?? 0,
          }
        : null,
    });
  }
  return { width: laid.width ?? 0, height: laid.height ?? 0, at, routes, entries, exits };
}

/** A node of its own, not drawn, at the side where the flow comes in or leaves: all lines from outside pass there. */
function gate(id: string, side: string, lines: number, flow: Flow): ElkNode[] {
  if (lines === 0) return [];
  const breadth = Math.min(60, 8 * lines);
  const size = isVertical(flow) ? { width: breadth, height: 1 } : { width: 1, height: breadth };
  return [{ id, ...size, layoutOptions: { "elk.layered.layering.layerConstraint": side } }];
}

function isVertical(flow: Flow): boolean {
  return flow === "DOWN" || flow === "UP";
}

function options(nodes: number, edges: number, flow: Flow): LayoutOptions {
  const isLarge = nodes > 60;
  return {
    "elk.algorithm": "layered",
    "elk.direction": flow,
    "elk.padding": "[top=0,left=0,bottom=0,right=0]",
    "elk.aspectRatio": isVertical(flow) ? "1.4" : "1.8",
    "elk.edgeRouting": edges > 1500 ? "POLYLINE" : "ORTHOGONAL",
    "elk.spacing.nodeNode": "26",
    "elk.spacing.edgeNode": "14",
    "elk.spacing.edgeEdge": "10",
    "elk.spacing.edgeLabel": "4",
    "elk.spacing.componentComponent": "26",
    "elk.layered.spacing.nodeNodeBetweenLayers": "38",
    "elk.layered.spacing.edgeNodeBetweenLayers": "14",
    "elk.layered.spacing.edgeEdgeBetweenLayers": "10",
    "elk.layered.cycleBreaking.strategy": "MODEL_ORDER", // what runs first stands first
    "elk.layered.feedbackEdges": "true", // what goes back leaves and arrives as all other lines do
    "elk.layered.thoroughness": isLarge ? "3" : "7",
    "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
    "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
    ...(nodes >= WRAPPED && edges < nodes * 1.3
      ? {
          "elk.layered.wrapping.strategy": "MULTI_EDGE",
          "elk.layered.wrapping.additionalEdgeSpacing": "20",
        }
      : {}),
  };
}

function move(point: Point, by: Point): Point {
  return { x: point.x + by.x, y: point.y + by.y };
}
