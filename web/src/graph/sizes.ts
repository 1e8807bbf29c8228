/** How large things are drawn, in pixels at zoom 1, and what stands on them. The style sheet has the same numbers. */

import type { Badge, ViewEdge, ViewNode } from "./scene";

export const HEADER = 32; // of an open scope
export const PADDING = 18; // inside an open scope
export const MORE = 26; // the line with the pages of an open scope
export const NAME_SIZE = 13;
export const SMALL_SIZE = 11;
export const LABEL_SIZE = 11;
export const BADGES_SHOWN = 3;
const BADGE = 17;
/** What a badge takes up beside its text, and the box beside its badges. */
export const BADGE_SPACE = 50;
const MIN_WIDTH = 96;
const MAX_WIDTH = 280;
const BUTTONS = 36; // the button for actions, and space around the text
const SIGN = 22; // the + of a scope

const widths = new Map<string, number>(); // of single characters, at size 1
let measure: ((char: string) => number) | null = null;

/** From now on texts are measured in this font (the CSS of a family), where that is possible. */
export function setFont(family: string): void {
  if (typeof OffscreenCanvas === "undefined") return;
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  if (!context) return;
  context.font = `500 100px ${family}`;
  widths.clear();
  measure = (char) => context.measureText(char).width / 100;
}

/** How wide a text is; without a font, about. */
export function textWidth(text: string, size: number): number {
  let units = 0;
  for (const char of text) {
    let width = widths.get(char);
    if (width === undefined) {
      width = measure ? measure(char) : guess(char);
      widths.set(char, width);
    }
    units += width;
  }
  return Math.ceil(units * size);
}

function guess(char: string): number {
  if (char > "\u2e80") return 1;
  if ("ilj.,:;'|!()[] ".includes(char)) return 0.32;
  if ("mwMW@%".includes(char)) return 0.9;
  return char >= "A" && char <= "Z" ? 0.68 : 0.57;
}

/** Cut in the middle, where names differ least, so that it is no wider than `width`. */
export function shorten(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text;
  let keep = text.length - 1;
  for (;;) {
    const head = Math.ceil(keep * 0.45);
    const cut = `${text.slice(0, head)}…${text.slice(text.length - (keep - head))}`;
    if (keep <= 4 || textWidth(cut, size) <= width) return cut;
    keep -= 1;
  }
}

/** The line below the name; of a closed scope the page's own text. */
export function subtitle(node: ViewNode, inside: (nodes: number, parameters: number) => string): string {
  if (node.kind === "node") return node.name.toLowerCase().startsWith(node.op.toLowerCase()) ? "" : node.op;
  if (node.kind === "stack" && node.op) return node.op;
  return inside(node.nodes, node.parameters);
}

export function title(node: ViewNode): string {
  return node.kind === "stack" ? `${node.name} ×${node.members}` : node.name;
}

export function badgeText(badge: Badge): string {
  if (badge.kind !== "constant") return badge.name;
  return badge.text || badge.name.slice(badge.name.lastIndexOf("/") + 1);
}

/** The badges with a line each; constants only where there is room. */
export function shownBadges(node: ViewNode): { shown: Badge[]; hidden: number } {
  const rank = (badge: Badge) => (badge.kind === "constant" ? 1 : 0);
  const sorted = [...node.badges].sort((a, b) => rank(a) - rank(b) || a.input - b.input);
  const shown = sorted.slice(0, sorted.length <= BADGES_SHOWN + 1 ? BADGES_SHOWN + 1 : BADGES_SHOWN);
  return { shown, hidden: sorted.length - shown.length };
}

/** The size of what is not open. */
export function cardSize(node: ViewNode, below: string): { width: number; height: number } {
  const { shown, hidden } = shownBadges(node);
  const sign = node.kind === "node" ? 0 : SIGN;
  const texts = [
    textWidth(title(node), NAME_SIZE) + BUTTONS + sign,
    textWidth(below, SMALL_SIZE) + BUTTONS + sign,
    ...shown.map((badge) => textWidth(badgeText(badge), SMALL_SIZE) + BADGE_SPACE),
  ];
  const rows = shown.length + (hidden ? 1 : 0);
  return {
    width: Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, ...texts))),
    height: (below ? 44 : 30) + (rows ? rows * BADGE + 5 : 0),
  };
}

export function typeText(type: { dtype: string; shape?: readonly number[] | null }): string {
  const shape = type.shape?.map((size) => (size < 0 ? "?" : String(size))).join("×");
  return [type.dtype, shape].filter(Boolean).join(" ");
}

/** "13 tensors", or type and shape of a single one; nothing for what only keeps an order. */
export function edgeText(edge: ViewEdge, tensors: (count: number) => string): string {
  if (edge.tensors === 0) return "";
  return (edge.tensors === 1 && edge.type && typeText(edge.type)) || tensors(edge.tensors);
}

/** With the room around it. */
export function labelSize(text: string): { width: number; height: number } {
  return { width: text ? textWidth(text, LABEL_SIZE) + 8 : 0, height: text ? LABEL_SIZE + 5 : 0 };
}
