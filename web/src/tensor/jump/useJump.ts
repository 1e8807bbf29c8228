/** Jumps to values: looks for them where the data are, and says what was found. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { isTyping } from "../../control/keys";
import { placeQuery } from "../../api/views";
import { type Texts, useText } from "../../i18n";
import { errorText } from "../../i18n/errors";
import { real } from "../../i18n/numbers";
import { type Part, partOf, placeInPart, realPosition } from "../dims";
import type { Shown } from "../parts";
import { type Jump, type JumpKind, jumpOf } from "./jumps";

export interface Jumping {
  shown: Shown;
  /** Called with a position in the part shown. */
  onJump(position: number[]): void;
  /** Called with a position in the whole tensor, for which another part may have to be shown. */
  onJumpElsewhere(position: number[]): void;
}

export interface Note {
  words: string;
  isFound: boolean;
}

/** Where the last jump went, in the whole tensor: the next one goes on from there. */
interface Last {
  of: string;
  position: number[];
}

export function useJump({ shown, onJump, onJumpElsewhere }: Jumping): { note: Note | null; jump(wanted: Jump): void } {
  const text = useText();
  const client = useQueryClient();
  const [note, setNote] = useState<Note | null>(null);
  const last = useRef<Last | null>(null);
  const { place, moment, of, index, fullShape, isLive, figures } = shown;
  const tensor = JSON.stringify([place, moment, of]);
  useEffect(() => setNote(null), [tensor]);

  const find = (what: JumpKind, wholeIndex: string, after: number | null) =>
    client.fetchQuery(placeQuery(place, moment, of, wholeIndex, what, after));

  const jump = async ({ what, isWhole }: Jump) => {
    const part = partOf(index.split(","), fullShape);
    if (!isLive || part instanceof Map) return;
    const from = last.current?.of === tensor + what ? last.current.position : null;
    const went = (position: number[], value: string, count: number, isOutside: boolean) => {
      last.current = { of: tensor + what, position };
      setNote({ words: foundText(text, what, position, value, count, isOutside), isFound: true });
    };
    const elsewhere = async (isOutside: boolean) => {
      const found = await find(what, "", from && flatOf(from, fullShape));
      if (!found.position) return setNote({ words: noneText(text, what), isFound: false });
      onJumpElsewhere(found.position);
      went(found.position, found.value, found.count, isOutside);
    };
    try {
      if (isWhole) return await elsewhere(false);
      const found = await find(what, index, flatIn(part, from));
      if (found.position) {
        onJump(found.position);
        went(realPosition(part, found.position), found.value, found.count, false);
      } else if (what === "nonfinite" && !isAll(part, fullShape) && (!figures || specialsOf(figures) > 0)) await elsewhere(true);
      else setNote({ words: noneText(text, what), isFound: false });
    } catch (error) {
      setNote({ words: `${text.views.jumpFailed}: ${errorText(error as Error, text)}`, isFound: false });
    }
  };

  const latest = useRef(jump);
  latest.current = jump;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const wanted = jumpOf(event);
      if (!wanted || event.defaultPrevented || isTyping(event.target) || isInMenu(event.target)) return;
      event.preventDefault();
      void latest.current(wanted);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);

  return { note, jump: (wanted) => void jump(wanted) };
}

function specialsOf({ nan_count, positive_inf_count, negative_inf_count }: NonNullable<Shown["figures"]>): number {
  return nan_count + positive_inf_count + negative_inf_count;
}

/** A position as a number, counted in C order. */
function flatOf(position: readonly number[], shape: readonly number[]): number {
  return position.reduce((all, at, dimension) => all * shape[dimension]! + at, 0);
}

function flatIn(part: Part, position: readonly number[] | null): number | null {
  const place = position && placeInPart(part, position);
  return place && flatOf(place, part.shape);
}

function isAll(part: Part, fullShape: readonly number[]): boolean {
  return part.shape.length === fullShape.length && part.shape.every((size, at) => size === fullShape[at]);
}

function foundText(text: Texts, what: JumpKind, position: number[], value: string, count: number, isOutside: boolean): string {
  const words = [text.views.found(shortValue(value), `[${position.join(", ")}]`)];
  if (what === "nonfinite" || count > 1) words.push(text.views.foundOf(count));
  if (isOutside) words.push(text.views.jumpedOut);
  return words.join(" · ");
}

/** As everywhere on the page, if it is an ordinary number. */
function shortValue(value: string): string {
  return real(Number.isFinite(Number(value)) && !/^-?\d+$/.test(value) ? Number(value) : value);
}

function noneText(text: Texts, what: JumpKind): string {
  return what === "nonfinite" ? text.views.noneWhole : text.views.noneFinite;
}

function isInMenu(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("[role=menu], [role=dialog]") !== null;
}
