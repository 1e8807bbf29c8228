/** Where the picture is looked at from: fits it, centres a box, keeps in place what was opened. */

import { useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";
import { shiftBetween } from "./find";
import { overlaps, type Rect, type Scene } from "./scene";
import type { Drawn } from "./useScene";

export const MIN_ZOOM = 0.02;
export const MAX_ZOOM = 3;
const READABLE = 1; // all labels are 11 px or larger
const MARGIN = 24;
const TOOLBAR = 30; // over the picture's upper border

export interface Camera {
  fit(scene: Scene): void;
  /** In the middle, at a zoom at which it can be read. */
  centre(box: Rect): void;
  /** Only as far as needed to see it. */
  show(box: Rect): void;
  zoom(by: number): void;
}

export function useCamera(frame: RefObject<HTMLDivElement | null>, drawn: Drawn | null): Camera {
  const flow = useReactFlow();
  const before = useRef<Drawn | null>(null);

  const size = useCallback(() => {
    const element = frame.current;
    return { width: element?.clientWidth || 1, height: element?.clientHeight || 1 };
  }, [frame]);

  const look = useCallback(
    (rect: Rect, zoom: number) => {
      const { width, height } = size();
      const x = width / 2 - (rect.x + rect.width / 2) * zoom;
      const y = height / 2 - (rect.y + rect.height / 2) * zoom;
      void flow.setViewport({ x, y, zoom });
    },
    [flow, size],
  );

  const fit = useCallback(
    (scene: Scene) => {
      const { width, height } = size();
      const across = (width - 2 * MARGIN) / Math.max(scene.width, 1);
      const along = (height - 2 * MARGIN - TOOLBAR) / Math.max(scene.height, 1);
      const zoom = Math.max(MIN_ZOOM, Math.min(1.2, across, along));
      look({ ...scene, y: scene.y - TOOLBAR / zoom, height: scene.height + TOOLBAR / zoom }, zoom);
    },
    [look, size],
  );

  const centre = useCallback(
    (box: Rect) => {
      const zoom = Math.min(1.6, Math.max(READABLE, flow.getZoom()));
      const { height, width } = size();
      // Of what is larger than the window, the corner with its name.
      const seen = {
        x: box.x,
        y: box.y,
        width: Math.min(box.width, (width - 2 * MARGIN) / zoom),
        height: Math.min(box.height, (height - 2 * MARGIN) / zoom),
      };
      look(seen, zoom);
    },
    [flow, look, size],
  );

  const inSight = useCallback((): Rect => {
    const { x, y, zoom } = flow.getViewport();
    const { width, height } = size();
    return { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
  }, [flow, size]);

  const show = useCallback(
    (box: Rect) => {
      const { x, y, zoom } = flow.getViewport();
      const sight = inSight();
      const margin = MARGIN / zoom;
      const by = (low: number, length: number, from: number, room: number) => {
        if (low < from + margin) return from + margin - low;
        const over = low + length - (from + room - margin);
        return over > 0 ? -Math.min(over, low - from - margin) : 0;
      };
      const [right, down] = [by(box.x, box.width, sight.x, sight.width), by(box.y, box.height, sight.y, sight.height)];
      if (right !== 0 || down !== 0) void flow.setViewport({ x: x + right * zoom, y: y + down * zoom, zoom });
    },
    [flow, inSight],
  );

  const zoom = useCallback(
    (by: number) => {
      const { x, y, zoom: old } = flow.getViewport();
      const { width, height } = size();
      const now = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, old * by));
      const [cx, cy] = [width / 2, height / 2];
      void flow.setViewport({ x: cx - ((cx - x) * now) / old, y: cy - ((cy - y) * now) / old, zoom: now });
    },
    [flow, size],
  );

  useLayoutEffect(() => {
    if (!drawn || drawn === before.current) return;
    const old = before.current;
    before.current = drawn;
    const { scene } = drawn;
    if (old?.of !== drawn.of || old.scene.direction !== scene.direction || old.scene.boxes.length === 0) {
      fit(scene);
      return;
    }
    const sight = inSight();
    const shift = shiftBetween(old.scene, scene, (box) => overlaps(box, sight));
    if (!shift) return;
    const { x, y, zoom: at } = flow.getViewport();
    void flow.setViewport({ x: x - shift.x * at, y: y - shift.y * at, zoom: at });
  }, [drawn, fit, flow, inSight]);

  return { fit, centre, show, zoom };
}
