/** A border between two panels that the pointer or the arrow keys move. */

import { type KeyboardEvent, type PointerEvent, useRef } from "react";

interface Props {
  axis: "x" | "y";
  label: string;
  value: number;
  min: number;
  max: number;
  onChange(value: number): void;
}

const KEY_STEP = 16;

export function Splitter({ axis, label, value, min, max, onChange }: Props) {
  const start = useRef<{ at: number; value: number } | null>(null);
  const put = (wanted: number) => onChange(Math.round(Math.min(max, Math.max(min, wanted))));
  // The panel right of "x" grows to the left, the one below "y" grows upwards: only the list is before its border.
  const sign = axis === "x" ? 1 : -1;
  const place = (event: PointerEvent) => (axis === "x" ? event.clientX : event.clientY);
  const press = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    put(value + sign * by * KEY_STEP);
  };
  return (
    <div
      className={`ss-splitter ss-splitter-${axis}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={axis === "x" ? "vertical" : "horizontal"}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { at: place(event), value };
      }}
      onPointerMove={(event) => {
        if (start.current) put(start.current.value + sign * (place(event) - start.current.at));
      }}
      onPointerUp={() => (start.current = null)}
      onPointerCancel={() => (start.current = null)}
    />
  );
}
