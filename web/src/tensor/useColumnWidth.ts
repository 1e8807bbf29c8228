/** The width of all columns: as the longest text needs that was in sight. It only grows, so that columns don't dance. */

import { useLayoutEffect, useState } from "react";
import type { Cell } from "./cells";
import { rowLabel, type Sheet } from "./sheet";

const PADDING = 16;
const LEAST = 7; // characters

let measured = 0;

/** Of a character of the table's font, in pixels. */
function characterWidth(): number {
  if (measured > 0) return measured;
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 7.25;
  context.font = `12px ${getComputedStyle(document.documentElement).getPropertyValue("--mantine-font-family-monospace")}`;
  measured = context.measureText("0000000000").width / 10;
  return measured;
}

const widthOf = (characters: number): number => Math.ceil(characters * characterWidth()) + PADDING;

/** `key` names what the texts depend on besides the values: with another one the width begins anew. */
export function useColumnWidth(key: string) {
  const [known, setKnown] = useState({ key, characters: LEAST });
  const characters = known.key === key ? known.characters : LEAST;
  const width = widthOf(characters);
  let longest = characters;
  let onGrow: (width: number) => void = () => undefined;
  useLayoutEffect(() => {
    if (longest <= characters && known.key === key) return;
    setKnown({ key, characters: longest });
    onGrow(widthOf(longest));
  });
  return {
    width,
    /** What is drawn now; `grow` hears of a new width. */
    see(cells: readonly Cell[], grow: (width: number) => void): void {
      for (const { text } of cells) longest = Math.max(longest, text.length);
      onGrow = grow;
    },
  };
}

/** Of the cells with the indices of the rows. */
export function headWidth(sheet: Sheet): number {
  const ends = [rowLabel(sheet, 0), rowLabel(sheet, Math.max(0, sheet.rows - 1))];
  return widthOf(Math.max(4, ...ends.map((end) => end.length)));
}
