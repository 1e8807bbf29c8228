/** From one place of the drawing to the next by the arrow keys. Pure. */

import type { Placed } from "./layout";
import type { Rect } from "../graph/scene";

/** What can have the focus: an output; or a box that has none, with slot -1. */
export interface Stop extends Rect {
  key: string;
  id: string;
  slot: number;
  row: number;
}

export type Arrow = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight";

export function keyOf(id: string, slot: number): string {
  return `${slot} ${id}`;
}

export function stopsOf(boxes: readonly Placed[]): Stop[] {
  return boxes.flatMap(({ slots, ...box }): Stop[] =>
    slots.length === 0
      ? [{ ...box, key: keyOf(box.id, -1), slot: -1 }]
      : slots.map((slot) => ({ ...slot, key: keyOf(box.id, slot.slot), id: box.id, row: box.row })),
  );
}

/** The neighbour in the row; or the nearest one in the row above or below. Null at the border. */
export function next(stops: readonly Stop[], from: string, arrow: Arrow): Stop | null {
  const here = stops.find(({ key }) => key === from);
  if (!here) return stops[0] ?? null;
  const middle = (stop: Stop) => stop.x + stop.width / 2;
  const by = arrow === "ArrowLeft" || arrow === "ArrowUp" ? -1 : 1;
  const isAcross = arrow === "ArrowLeft" || arrow === "ArrowRight";
  const found = stops.filter((stop) =>
    isAcross ? stop.row === here.row && by * (middle(stop) - middle(here)) > 0 : stop.row === here.row + by,
  );
  const far = (stop: Stop) => Math.abs(middle(stop) - middle(here));
  return found.reduce<Stop | null>((best, stop) => (best && far(best) <= far(stop) ? best : stop), null);
}
