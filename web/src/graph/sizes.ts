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
const MIN_WIDTH = 96;
const MAX_WIDTH = 260;
const BUTTONS = 30; // the button for actions, and space around the text
const SIGN = 22; // the + of a scope

/** About how wide a text is in the page's font. */
export function textWidth(text: string, size: number): number {
  let units = 0;
  for (const char of text) {
    if (char > "\u2e80") units += 1;
    else if ("ilj.,:;'|!()[] ".includes(char)) units += 0.32;
    else if ("mwMW@%".includes(char)) units += 0.9;
    else if (char >= "A" && char <= "Z") units += 0.68;
    else units += 0.57;
  }
  return Math.ceil(units * size);
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
  const texts = [
    textWidth(title(node), NAME_SIZE) * 1.04 + BUTTONS + (node.kind === "node" ? 0 : SIGN),
    textWidth(below, SMALL_SIZE) + BUTTONS,
    ...shown.map((badge) => textWidth(badgeText(badge), SMALL_SIZE) + 34),
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
