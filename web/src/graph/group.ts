/** A group laid out in layers and turned into the direction of its flow, with ways for what comes from outside. */

import { inLayers } from "./layered";
import type { Part, Tie } from "./layers";
import type { Point, ViewNode } from "./scene";
import { labelSize } from "./sizes";

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

export interface Placed {
  width: number;
  height: number;
  at: Map<number, Point>;
  /** By link, the corners of its way. */
  routes: Map<number, Point[]>;
  /** By child: from where the flow comes into the box to the child, and from the child to where it leaves. */
  entries: Map<number, Point[]>;
  exits: Map<number, Point[]>;
}

const GATED = 12; // children with lines from outside, at most, that get ways to the border
const LINE_SPACE = 44; // between layers: a label has room beside a line
const WIDEST_LABEL = 150; // that has room along a line

export function isVertical(flow: Flow): boolean {
  return flow === "DOWN" || flow === "UP";
}

export function layOutGroup(
  children: readonly Child[],
  links: readonly Link[],
  members: readonly number[],
  flow: Flow,
): Placed {
  const inGroup = new Set(members);
  const inside = links.flatMap(({ source, target }, index) => (inGroup.has(source) && inGroup.has(target) ? [index] : []));
  const gated = (key: "isEntry" | "isExit") => {
    const found = members.filter((index) => children[index]![key]);
    return found.length <= GATED ? found : [];
  };
  const [entering, leaving] = [gated("isEntry"), gated("isExit")];
  const before = entering.length > 0 ? 1 : 0; // the gate is the first part
  const places = new Map(members.map((index, place) => [index, place + before]));
  const sized = members.map((index): Part => {
    const { width, height } = children[index]!;
    return isVertical(flow) ? { length: height, breadth: width } : { length: width, breadth: height };
  });
  const parts = [...gate("in", entering.length), ...sized, ...gate("out", leaving.length)];
  const ties: Tie[] = [
    ...inside.map((index) => ({ source: places.get(links[index]!.source)!, target: places.get(links[index]!.target)! })),
    ...entering.map((index) => ({ source: 0, target: places.get(index)! })),
    ...leaving.map((index) => ({ source: places.get(index)!, target: parts.length - 1 })),
  ];
  const gap = layerSpace(inside.map((index) => links[index]!), flow);
  const laid = inLayers(parts, ties, gap, isVertical(flow) ? 1.4 : 1 / 1.8);

  const isForward = flow === "DOWN" || flow === "RIGHT";
  const toPoint = ({ x, y }: Point): Point => {
    const along = isForward ? y : laid.height - y;
    return isVertical(flow) ? { x, y: along } : { x: along, y: x };
  };
  const corner = (place: number): Point => {
    const { x, y } = laid.at[place]!;
    return toPoint({ x, y: isForward ? y : y + parts[place]!.length });
  };
  const ways = (of: readonly number[], first: number) =>
    new Map(of.flatMap((index, place) => (laid.ways[first + place] ? [[index, laid.ways[first + place]!.map(toPoint)]] : [])));
  return {
    width: isVertical(flow) ? laid.width : laid.height,
    height: isVertical(flow) ? laid.height : laid.width,
    at: new Map(members.map((index) => [index, corner(places.get(index)!)])),
    routes: ways(inside, 0),
    entries: ways(entering, inside.length),
    exits: ways(leaving, inside.length + entering.length),
  };
}

/** A part of its own, as broad as the lines need it that all pass there. */
function gate(kind: "in" | "out", lines: number): Part[] {
  return lines > 0 ? [{ length: 1, breadth: Math.min(60, 10 * lines + 14), gate: kind }] : [];
}

/** Room between layers for what is written on the lines: a label stands beside a line, or is as long as it. */
function layerSpace(links: readonly Link[], flow: Flow): number {
  if (isVertical(flow)) return LINE_SPACE;
  const widest = links.reduce((width, { text }) => Math.max(width, labelSize(text).width + 36), LINE_SPACE);
  return Math.min(widest, WIDEST_LABEL);
}
