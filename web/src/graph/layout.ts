/** A view laid out: one arrangement for each open box, the innermost first, then everything in absolute coordinates. */

import { arrange, type Arrangement, type Cache, flowOf } from "./arrange";
import type { Child, Link } from "./group";
import { alongCurve, alongWay, Room } from "./labels";
import { nest, type Nesting, type Pair, ROOT } from "./nesting";
import { acrossGroups, type Crossing, middleOf, port, throughGroup } from "./routes";
import type { Box, Direction, Line, Point, Scene, View, ViewNode } from "./scene";
import { cardSize, HEADER, MORE, NAME_SIZE, PADDING, textWidth, title } from "./sizes";

export interface LayoutRequest {
  view: View;
  direction: Direction;
  /** What stands below the names, by node, and on the lines, by edge: in the page's language. */
  subtitles: string[];
  labels: string[];
  /** The CSS of the font's family. */
  font: string;
}

const MOST_LABELS = 4; // lines between two boxes of different groups that have labels; more are drawn faint

interface Laid extends Arrangement {
  pairs: Pair[];
}

export function layOut(request: LayoutRequest, cache: Cache): Scene {
  const { view, direction, subtitles } = request;
  const nesting = nest(view);
  const sizes = view.nodes.map((node, index) => cardSize(node, subtitles[index] ?? ""));
  const laid = new Map<number, Laid>();
  const opened = [...nesting.children.keys()].filter((box) => box !== ROOT);
  const deepest = opened.reduce((depth, box) => Math.max(depth, nesting.depths[box]!), -1);
  for (let depth = deepest; depth >= 0; depth--) {
    for (const box of opened.filter((each) => nesting.depths[each] === depth)) {
      const inside = arrangeBox(box, request, nesting, sizes, cache);
      laid.set(box, inside);
      sizes[box] = openSize(view.nodes[box]!, inside);
    }
  }
  laid.set(ROOT, arrangeBox(ROOT, request, nesting, sizes, cache));
  const boxes = positions(view, nesting, sizes, laid);
  const root = laid.get(ROOT)!;
  return {
    direction,
    boxes,
    lines: linesOf(request, nesting, boxes, laid),
    x: 0,
    y: 0,
    width: root.width,
    height: root.height,
  };
}

function arrangeBox(
  box: number,
  { view, direction, labels }: LayoutRequest,
  nesting: Nesting,
  sizes: readonly { width: number; height: number }[],
  cache: Cache,
): Laid {
  const members = nesting.children.get(box) ?? [];
  const places = new Map(members.map((member, place) => [member, place]));
  const [entries, exits] = [nesting.entries.get(box), nesting.exits.get(box)];
  const children = members.map(
    (member): Child => ({
      ...sizes[member]!,
      role: view.nodes[member]!.role,
      isEntry: entries?.has(member) ?? false,
      isExit: exits?.has(member) ?? false,
    }),
  );
  const pairs = nesting.pairs.get(box) ?? [];
  const links = pairs.map(({ source, target, edges }): Link => {
    const text = edges.length === 1 ? labels[edges[0]!]! : "";
    return { source: places.get(source)!, target: places.get(target)!, text };
  });
  return { ...arrange(children, links, direction, cache), pairs };
}

/** Where the children of an open box begin, from its corner. */
function contentOf(node: ViewNode): Point {
  return { x: PADDING, y: HEADER + (node.total > node.shown ? MORE : 0) + 10 };
}

function openSize(node: ViewNode, inside: Arrangement): { width: number; height: number } {
  const { x, y } = contentOf(node);
  const header = textWidth(title(node), NAME_SIZE) + 90;
  return {
    width: Math.round(Math.max(inside.width + 2 * x, Math.min(header, 420), node.total > node.shown ? 230 : 0)),
    height: Math.round(inside.height + y + PADDING),
  };
}

function positions(
  view: View,
  nesting: Nesting,
  sizes: readonly { width: number; height: number }[],
  laid: ReadonlyMap<number, Laid>,
): Box[] {
  const boxes: Box[] = view.nodes.map((node, index) => ({
    node,
    depth: nesting.depths[index]!,
    x: 0,
    y: 0,
    ...sizes[index]!,
  }));
  for (const [outer, members] of nesting.children) {
    const origin = originOf(outer, boxes);
    const at = laid.get(outer)?.at ?? [];
    members.forEach((member, place) => {
      boxes[member]!.x = Math.round(origin.x + (at[place]?.x ?? 0));
      boxes[member]!.y = Math.round(origin.y + (at[place]?.y ?? 0));
    });
  }
  return boxes;
}

function originOf(box: number, boxes: readonly Box[]): Point {
  if (box === ROOT) return { x: 0, y: 0 };
  const { node, x, y } = boxes[box]!;
  const content = contentOf(node);
  return { x: x + content.x, y: y + content.y };
}

function linesOf(
  { view, direction, labels }: LayoutRequest,
  nesting: Nesting,
  boxes: Box[],
  laid: ReadonlyMap<number, Laid>,
): Line[] {
  const lines: Line[] = view.edges.map((edge, index) => ({
    source: edge.source,
    target: edge.target,
    path: "",
    label: null,
    text: labels[index]!,
    middle: { x: 0, y: 0 },
    control: edge.tensors === 0,
    isFaint: false,
    tensors: edge.tensors,
  }));
  const crossings: Crossing[] = [];
  const room = new Room(boxes);
  const labelled: { line: Line; way: Point[] }[] = [];
  for (const [outer, { pairs, routes }] of laid) {
    const origin = originOf(outer, boxes);
    const move = <T extends Point>(point: T): T => ({ ...point, x: point.x + origin.x, y: point.y + origin.y });
    pairs.forEach((pair, place) => {
      const [sourceRole, targetRole] = [view.nodes[pair.source]!.role, view.nodes[pair.target]!.role];
      const route = routes[place];
      for (const index of pair.edges) {
        const line = lines[index]!;
        const [source, target] = [boxes[line.source]!, boxes[line.target]!];
        if (!route) {
          crossings.push({ line: index, source, target, sourceRole, targetRole });
          line.isFaint = pair.edges.length > MOST_LABELS;
          continue;
        }
        const flow = flowOf(sourceRole, direction);
        const trunk = route.map(move);
        const out = ways(line.source, pair.source, "exits", nesting, boxes, laid);
        const into = ways(line.target, pair.target, "entries", nesting, boxes, laid);
        line.path = throughGroup(
          [...out.known, trunk, ...into.known.reverse()],
          out.isWhole ? null : port(source, flow, true),
          into.isWhole ? null : port(target, flow, false),
          flow,
        );
        line.middle = middleOf(trunk);
        room.addWay(trunk);
        if (line.text && pair.edges.length === 1) labelled.push({ line, way: trunk });
      }
    });
  }
  for (const { line, way } of labelled) line.label = room.place(line.text, alongWay(way));
  for (const { line: index, path, from, to } of acrossGroups(crossings, direction)) {
    const line = lines[index]!;
    line.path = path;
    line.middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    if (line.text && !line.isFaint) line.label = room.place(line.text, alongCurve(from, to));
  }
  return lines.filter((line) => line.path !== "");
}

/** The ways between a box and the border of one around it, the innermost first; whole where the first one is known. */
function ways(
  inner: number,
  outer: number,
  kind: "entries" | "exits",
  nesting: Nesting,
  boxes: readonly Box[],
  laid: ReadonlyMap<number, Laid>,
): { known: Point[][]; isWhole: boolean } {
  const known: Point[][] = [];
  let isWhole = true;
  for (let at = inner; at !== outer; at = nesting.parents[at]!) {
    const parent = nesting.parents[at]!;
    const place = nesting.children.get(parent)!.indexOf(at);
    const way = laid.get(parent)?.[kind].get(place);
    if (way) {
      const origin = originOf(parent, boxes);
      known.push(way.map(({ x, y }) => ({ x: x + origin.x, y: y + origin.y })));
    } else if (at === inner) isWhole = false;
  }
  return { known, isWhole };
}
