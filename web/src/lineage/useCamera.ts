/** Which part of the drawing is in sight: drags move it, the wheel zooms; it fits itself until someone does. */

import { type PointerEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Layout } from "./layout";
import type { Rect } from "../graph/scene";

const MARGIN = 8;
const LEAST = 0.25;
const MOST = 2.5;
const READABLE = 0.9; // text is smaller below
const CLICK = 4; // pixels that a click may move

export interface View {
  x: number;
  y: number;
  zoom: number;
}

interface Size {
  width: number;
  height: number;
}

/** All of it where it can be read; else at the least zoom that can be read, with `focus` in the middle. */
export function look(layout: Size, frame: Size, focus: Rect | undefined, least = READABLE): View {
  const across = (frame.width - 2 * MARGIN) / Math.max(1, layout.width);
  const along = (frame.height - 2 * MARGIN) / Math.max(1, layout.height);
  return at(layout, frame, focus, Math.max(least, Math.min(1, across, along)));
}

/** At a zoom with `focus` in the middle, as far as that wastes no room beside the drawing. */
function at(layout: Size, frame: Size, focus: Rect | undefined, zoom: number): View {
  const along = (length: number, room: number, middle: number): number => {
    if (length * zoom <= room - 2 * MARGIN) return (room - length * zoom) / 2;
    return Math.min(MARGIN, Math.max(room - MARGIN - length * zoom, room / 2 - middle * zoom));
  };
  return {
    x: Math.round(along(layout.width, frame.width, focus ? focus.x + focus.width / 2 : 0)),
    y: Math.round(along(layout.height, frame.height, focus ? focus.y + focus.height : 0)),
    zoom,
  };
}

export interface Camera {
  view: View;
  zoom(by: number): void;
  fit(): void;
  centre(rect: Rect): void;
  /** Only as far as needed to see it. */
  show(rect: Rect): void;
  handlers: {
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerUp(event: PointerEvent): void;
    onPointerCancel(event: PointerEvent): void;
  };
}

/** `focus` is the box that stays where it is when the drawing changes; with another `subject` it is looked at anew. */
export function useCamera(
  frame: RefObject<HTMLElement | null>,
  layout: Layout,
  focus: Rect | undefined,
  subject: string,
): Camera {
  const [view, setView] = useState<View>({ x: 0, y: 0, zoom: 1 });
  const isMoved = useRef(false);
  const least = useRef(READABLE); // less once all of it was asked for
  const before = useRef({ focus, subject });
  const now = useRef({ layout, focus });
  now.current = { layout, focus };

  const sizeOf = useCallback((): Size => {
    const element = frame.current;
    return { width: element?.clientWidth || 1, height: element?.clientHeight || 1 };
  }, [frame]);
  const put = useCallback((change: (view: View) => View) => {
    isMoved.current = true;
    setView(change);
  }, []);
  const settle = useCallback(() => setView(look(now.current.layout, sizeOf(), now.current.focus, least.current)), [sizeOf]);
  const zoomAt = useCallback(
    (by: number, x: number, y: number) =>
      put((view) => {
        const zoom = Math.min(MOST, Math.max(LEAST, view.zoom * by));
        const share = zoom / view.zoom;
        return { x: x - (x - view.x) * share, y: y - (y - view.y) * share, zoom };
      }),
    [put],
  );

  useLayoutEffect(() => {
    const { focus: old, subject: last } = before.current;
    before.current = { focus, subject };
    if (last !== subject) {
      isMoved.current = false;
      least.current = READABLE;
    }
    if (!isMoved.current || !old || !focus) settle();
    else setView((view) => ({ ...view, x: view.x + (old.x - focus.x) * view.zoom, y: view.y + (old.y - focus.y) * view.zoom }));
  }, [layout, focus, subject, settle]);

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (!isMoved.current) settle();
    });
    observer.observe(element);
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoomAt(Math.exp(-event.deltaY * 0.0015), event.clientX - left, event.clientY - top);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, [frame, settle, zoomAt]);

  const drag = useRef<{ x: number; y: number; from: View; isOn: boolean } | null>(null);
  const end = () => (drag.current = null);
  return {
    view,
    zoom: (by) => zoomAt(by, sizeOf().width / 2, sizeOf().height / 2),
    fit: () => {
      isMoved.current = false;
      least.current = LEAST; // also of what is still on its way
      settle();
    },
    centre: (rect) => put((view) => at(layout, sizeOf(), rect, Math.max(view.zoom, READABLE))),
    show: (rect) =>
      put((view) => {
        const { width, height } = sizeOf();
        const [x, y] = [view.x + rect.x * view.zoom, view.y + rect.y * view.zoom];
        const isIn = x >= 0 && y >= 0 && x + rect.width * view.zoom <= width && y + rect.height * view.zoom <= height;
        return isIn ? view : at(layout, { width, height }, rect, view.zoom);
      }),
    handlers: {
      onPointerDown: (event) => {
        if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, from: view, isOn: false };
      },
      onPointerMove: (event) => {
        const start = drag.current;
        if (!start) return;
        const [x, y] = [event.clientX - start.x, event.clientY - start.y];
        if (!start.isOn && Math.hypot(x, y) < CLICK) return;
        if (!start.isOn) event.currentTarget.setPointerCapture(event.pointerId);
        start.isOn = true;
        put(() => ({ ...start.from, x: start.from.x + x, y: start.from.y + y }));
      },
      onPointerUp: end,
      onPointerCancel: end,
    },
  };
}
