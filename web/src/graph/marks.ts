/** What stands out in the picture, apart from the picture itself, so that selecting redraws a few boxes only. */

import { create } from "zustand";
import { boxOf, linesAt } from "./find";
import type { Line, Scene } from "./scene";

interface Marks {
  /** Class names by id of a box. */
  classes: ReadonlyMap<string, string>;
  lines: readonly { line: Line; kind: "into" | "out" | "hover" }[];
  /** A parameter, input or constant that is selected: marked on the ops that read it. */
  badge: string;
  /** Full names of nodes that were hit: parameters among them are marked where they are read. */
  hits: ReadonlySet<string>;
  cursor: string;
}

export const useMarks = create<Marks>(() => ({ classes: new Map(), lines: [], badge: "", hits: new Set(), cursor: "" }));

/** Whether the picture is so small that no text can be read: none is drawn then. */
export const useDistance = create<{ isFar: boolean }>(() => ({ isFar: false }));

const FAR = 0.25; // names are about 3 pixels high

export function setZoom(zoom: number): void {
  const isFar = zoom < FAR;
  if (isFar !== useDistance.getState().isFar) useDistance.setState({ isFar });
}

export interface Marked {
  cursor: string | null;
  hovered: string | null;
  current: string | null;
  hits: ReadonlySet<string>;
  /** The boxes of `hits`: see `boxesOf`. */
  hitBoxes: ReadonlySet<number>;
  badge: string;
}

/** The boxes that stand for these nodes: their own, or what is closed around them. */
export function boxesOf(scene: Scene, places: ReadonlyMap<string, number>, names: Iterable<string>): Set<number> {
  const found = new Set<number>();
  for (const name of names) {
    const place = boxOf(scene, places, name);
    if (place >= 0) found.add(place);
  }
  return found;
}

export function mark(scene: Scene, places: ReadonlyMap<string, number>, what: Marked): void {
  const classes = new Map<string, string>();
  const add = (place: number, name: string) => {
    const id = scene.boxes[place]?.node.id;
    if (id !== undefined) classes.set(id, `${classes.get(id) ?? ""} ${name}`);
  };
  const lines: { line: Line; kind: "into" | "out" | "hover" }[] = [];
  const exactly = (name: string) => (places.has(name) ? "" : "-inside");

  if (what.cursor !== null) {
    const place = boxOf(scene, places, what.cursor);
    if (place >= 0) {
      add(place, `is-selected${exactly(what.cursor)}`);
      const { into, out } = linesAt(scene, places, place);
      into.forEach((line) => add(line.source, "is-producer"));
      out.forEach((line) => add(line.target, "is-consumer"));
      into.forEach((line) => lines.push({ line, kind: "into" }));
      out.forEach((line) => lines.push({ line, kind: "out" }));
    }
  }
  if (what.hovered !== null && what.hovered !== what.cursor) {
    const place = places.get(what.hovered);
    if (place !== undefined && !scene.boxes[place]!.node.open) {
      const { into, out } = linesAt(scene, places, place);
      [...into, ...out].forEach((line) => lines.push({ line, kind: "hover" }));
    }
  }
  if (what.current !== null) add(boxOf(scene, places, what.current), `is-current${exactly(what.current)}`);
  for (const place of what.hitBoxes) add(place, "is-hit");
  useMarks.setState({ classes, lines, badge: what.badge, hits: what.hits, cursor: what.cursor ?? "" });
}
