/** A group as ELK gets it: its nodes and edges, ways for what comes from outside, and how it is to be laid out. */

import type { ElkExtendedEdge, ElkNode, LayoutOptions } from "elkjs/lib/elk-api";
import type { Child, Flow, Link } from "./arrange";
import { labelSize } from "./sizes";

const LARGE = 60; // children from which on speed matters more than the last crossing of lines
const WRAPPED = 12; // children from which on what is long and narrow is folded
const LONG = 3; // how much longer than broad that is
const LAYER = 100; // pixels that a layer takes up along the flow
const BREADTH = 200; // and a child across it, about
const LINE_SPACE = 44; // between layers
const WIDEST_LABEL = 150;

export function isVertical(flow: Flow): boolean {
  return flow === "DOWN" || flow === "UP";
}

/**
 * The members of a group as "n…", the lines among them as "e…", those that come in as "i…" and leave as "o…". Labels are
 * no part of it (each would be a node of its own): there is space between the layers for them.
 */
export function solverGraph(
  children: readonly Child[],
  links: readonly Link[],
  members: readonly number[],
  flow: Flow,
): ElkNode {
  const inGroup = new Set(members);
  const inside = links.flatMap(({ source, target }, index) => (inGroup.has(source) && inGroup.has(target) ? [index] : []));
  const entering = members.filter((index) => children[index]!.isEntry);
  const leaving = members.filter((index) => children[index]!.isExit);
  const edge = (id: string, source: string, target: string): ElkExtendedEdge => ({ id, sources: [source], targets: [target] });
  return {
    id: "root",
    layoutOptions: options(members, inside.map((index) => links[index]!), flow),
    children: [
      ...gate("in", "FIRST_SEPARATE", entering.length, flow),
      ...members.map((index) => ({ id: `n${index}`, width: children[index]!.width, height: children[index]!.height })),
      ...gate("out", "LAST_SEPARATE", leaving.length, flow),
    ],
    edges: [
      ...entering.map((index) => edge(`i${index}`, "in", `n${index}`)),
      ...inside.map((index) => edge(`e${index}`, `n${links[index]!.source}`, `n${links[index]!.target}`)),
      ...leaving.map((index) => edge(`o${index}`, `n${index}`, "out")),
    ],
  };
}

/** A node of its own, not drawn, at the side where the flow comes in or leaves: all lines from outside pass there. */
function gate(id: string, side: string, lines: number, flow: Flow): ElkNode[] {
  if (lines === 0) return [];
  const breadth = Math.min(60, 8 * lines);
  const size = isVertical(flow) ? { width: breadth, height: 1 } : { width: 1, height: breadth };
  return [{ id, ...size, layoutOptions: { "elk.layered.layering.layerConstraint": side } }];
}

function options(members: readonly number[], links: readonly Link[], flow: Flow): LayoutOptions {
  const isLarge = members.length > LARGE;
  return {
    "elk.algorithm": "layered",
    "elk.direction": flow,
    "elk.padding": "[top=0,left=0,bottom=0,right=0]",
    "elk.aspectRatio": isVertical(flow) ? "1.4" : "1.8",
    "elk.edgeRouting": links.length > 1500 ? "POLYLINE" : "ORTHOGONAL",
    "elk.spacing.nodeNode": "26",
    "elk.spacing.edgeNode": "14",
    "elk.spacing.edgeEdge": "10",
    "elk.spacing.componentComponent": "26",
    "elk.layered.spacing.nodeNodeBetweenLayers": String(layerSpace(links, flow)),
    "elk.layered.spacing.edgeNodeBetweenLayers": "14",
    "elk.layered.spacing.edgeEdgeBetweenLayers": "10",
    "elk.layered.cycleBreaking.strategy": "MODEL_ORDER", // what runs first stands first
    "elk.layered.feedbackEdges": "true", // what goes back leaves and arrives as all other lines do
    "elk.layered.thoroughness": isLarge ? "1" : "7",
    "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
    "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
    ...(isLarge ? { "elk.layered.crossingMinimization.greedySwitch.type": "OFF" } : {}),
    ...(isLong(members, links, flow)
      ? { "elk.layered.wrapping.strategy": "MULTI_EDGE", "elk.layered.wrapping.additionalEdgeSpacing": "20" }
      : {}),
  };
}

/** Room between layers for what is written on the lines: a label stands beside a line, or is as long as it. */
function layerSpace(links: readonly Link[], flow: Flow): number {
  if (isVertical(flow)) return LINE_SPACE;
  const widest = links.reduce((width, { text }) => Math.max(width, labelSize(text).width + 20), LINE_SPACE);
  return Math.min(widest, WIDEST_LABEL);
}

/** Whether it would be drawn as a strip. */
function isLong(members: readonly number[], links: readonly Link[], flow: Flow): boolean {
  if (members.length < WRAPPED || links.length > 2 * members.length) return false;
  const layers = layersOf(members, links);
  const [along, across] = isVertical(flow) ? [LAYER, BREADTH] : [BREADTH, LAYER];
  return layers * along > LONG * (members.length / layers) * across;
}

/** Nodes on the longest way along lines from what runs earlier to what runs later. */
function layersOf(members: readonly number[], links: readonly Link[]): number {
  const depth = new Map(members.map((index) => [index, 1]));
  const onward = links.filter(({ source, target }) => source < target).sort((a, b) => a.source - b.source);
  for (const { source, target } of onward) depth.set(target, Math.max(depth.get(target)!, depth.get(source)! + 1));
  return Math.max(...depth.values());
}
