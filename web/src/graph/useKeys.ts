/** The canvas by keyboard. */

import { type KeyboardEvent, useCallback } from "react";
import { type Side, step } from "./find";
import type { Scene } from "./scene";

const SIDES: Record<string, Side> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };

export interface KeyOptions {
  scene: Scene;
  places: ReadonlyMap<string, number>;
  /** The selected box, -1 where none is. */
  cursor: number;
  onMove(place: number): void;
  onToggle(place: number): void;
  onMenu(place: number): void;
  onZoom(by: number): void;
  onLeave(): void;
}

export function useKeys(options: KeyOptions): (event: KeyboardEvent) => void {
  const { scene, places, cursor, onMove, onToggle, onMenu, onZoom, onLeave } = options;
  return useCallback(
    (event: KeyboardEvent) => {
      const onCanvas = event.target === event.currentTarget;
      if (!onCanvas || event.ctrlKey || event.metaKey || event.altKey || scene.boxes.length === 0) return;
      const side = SIDES[event.key];
      if (side && !event.shiftKey) {
        const next = cursor < 0 ? 0 : step(scene, places, cursor, side);
        if (next >= 0) onMove(next);
      } else if (event.key === "Enter" && cursor >= 0) onToggle(cursor);
      else if (event.key === "ContextMenu" && cursor >= 0) onMenu(cursor);
      else if (event.key === "Escape") onLeave();
      else if (event.key === "+") onZoom(1.25);
      else if (event.key === "-") onZoom(0.8);
      else return;
      event.preventDefault();
    },
    [scene, places, cursor, onMove, onToggle, onMenu, onZoom, onLeave],
  );
}
