/** Copies cells of the table as text, tab-separated, as they are shown. */

import { notifications } from "@mantine/notifications";
import { copy } from "../app/Copy";
import type { Texts } from "../i18n";
import { errorText } from "../i18n/errors";
import { cellOf, type Look } from "./cells";
import type { Rectangle } from "./selection";
import type { TableValues } from "./useValues";

export const MOST_COPIED = 100_000;

export async function copyCells(values: TableValues, of: Rectangle, look: Look, text: Texts): Promise<void> {
  const say = (message: string, color?: string) => notifications.show({ id: "copy-cells", message, color });
  const count = (of.bottom - of.top + 1) * (of.right - of.left + 1);
  if (count > MOST_COPIED) return void say(text.tensor.tooMany(MOST_COPIED), "red");
  try {
    const at = await values.all(of);
    const lines: string[] = [];
    for (let row = of.top; row <= of.bottom; row++) {
      const cells: string[] = [];
      for (let column = of.left; column <= of.right; column++) {
        const place = at(row, column);
        cells.push((place && cellOf(place.source, place.place, look)?.text) ?? "");
      }
      lines.push(cells.join("\t"));
    }
    if (await copy(lines.join("\n"))) say(text.tensor.copied(count));
  } catch (error) {
    say(`${text.tensor.copyFailed}: ${errorText(error as Error, text)}`, "red");
  }
}
