/** What stands on the boxes of the lineage, and how wide that makes them. */

import { shorten, textWidth } from "../graph/sizes";
import type { Hit } from "../api/watch";
import { type Sized, SLOT_GAP } from "./layout";
import type { DrawnNode, Fold } from "./select";

export const FONT = 12;
export const SLOT_FONT = 11;
const LEAST = 76;
const MOST = 216;
const AROUND = 20; // the border and the room beside the text
const BOLD = 1.1; // how much wider bold letters are
const BADGE = 22; // the number of a step
const MANY = 4; // outputs that are all drawn; of more, those that matter

export interface NodeText {
  op: string;
  /** What the last part of the name says besides. */
  rest: string;
}

/** "Conv2D" and "-op12": the last part of a name mostly begins with the op. */
export function nodeText({ id, op, type }: DrawnNode): NodeText {
  const last = id.slice(id.lastIndexOf("/") + 1);
  if (type !== "op") return { op: "", rest: last };
  if (last.toLowerCase().startsWith(op.toLowerCase())) return { op: last.slice(0, op.length), rest: last.slice(op.length) };
  return { op, rest: ` ${last}` };
}

/** Cut where it would be too long. */
export function nodeLabel(node: DrawnNode, hasNumber: boolean): NodeText & { width: number } {
  const { op, rest } = nodeText(node);
  const room = MOST - AROUND - (hasNumber ? BADGE : 0);
  const bold = Math.ceil(textWidth(op, FONT) * BOLD);
  const cut = shorten(rest, FONT, Math.max(40, room - bold));
  return { op, rest: cut, width: bold + textWidth(cut, FONT) + AROUND + (hasNumber ? BADGE : 0) };
}

export interface SlotMark {
  slot: number;
  label: string;
  hits: readonly Hit[];
}

/** Those that lines leave from and those that were hit; all where they are few. */
export function slotsOf(node: DrawnNode, outputs: readonly number[] | null, hits: readonly Hit[]): number[] {
  const few = outputs && outputs.length <= MANY ? outputs : [];
  return [...new Set([...node.slots, ...hits.map(({ slot }) => slot), ...few])].sort((a, b) => a - b);
}

/** "slot 0 [TO, TL]": what was hit; where nothing was, what could not be evaluated. */
export function slotMark(slot: number, name: string, of: readonly Hit[], abbreviation: (condition: string) => string): SlotMark {
  const hits = of.filter((hit) => hit.slot === slot);
  const real = hits.filter(({ error }) => error.length === 0);
  const short = (real.length > 0 ? real : hits).map(({ condition }) => abbreviation(condition));
  return { slot, hits, label: short.length === 0 ? name : `${name} [${[...new Set(short)].join(", ")}]` };
}

/** "+58": outputs that are not drawn. */
export function hiddenLabel(count: number): string {
  return count > 0 ? `+${count}` : "";
}

export function sized(id: string, width: number, slots: readonly SlotMark[], hidden: number): Sized {
  const widths = slots.map(({ slot, label }) => ({ slot, width: Math.ceil(textWidth(label, SLOT_FONT) * BOLD) + 14 }));
  const aside = hidden > 0 ? 2 * (textWidth(hiddenLabel(hidden), SLOT_FONT) + SLOT_GAP) : 0;
  const below = widths.reduce((sum, each) => sum + each.width + SLOT_GAP, aside - SLOT_GAP);
  return { id, width: Math.round(Math.max(LEAST, width, below)), slots: widths };
}

export function foldSize(fold: Fold, label: string): Sized {
  return { id: fold.id, width: textWidth(label, FONT) + AROUND, slots: [] };
}
