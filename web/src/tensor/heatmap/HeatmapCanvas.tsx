/** The picture of a heat map: under the pointer and the arrow keys a cell says what it is; a click takes its place. */

import { type KeyboardEvent, type PointerEvent, type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import type { Heatmap, Reduce } from "../../api/views";
import { useText } from "../../i18n";
import type { HeatColours, Scale } from "../colours";
import type { Part } from "../dims";
import { Reading } from "../Reading";
import { cellAt, type Extent, positionAt } from "./cells";
import { type Margin, paint } from "./paint";
import { axesOf, type Cell, placeText, spansOf, valueText } from "./reading";

interface Props {
  canvas: RefObject<HTMLCanvasElement | null>;
  heatmap: Heatmap;
  part: Part;
  reduce: Reduce;
  scale: Scale | null;
  colours: HeatColours;
  margin: Margin;
  extent: Extent;
  pixelRatio: number;
  /** A cell, and the position of the part in it that is meant. */
  onPick(cell: Cell, position: [row: number, column: number]): void;
}

/** Cells that Page Up and Page Down go. */
const PAGE = 16;

export function HeatmapCanvas({ canvas, heatmap, part, reduce, scale, colours, margin, extent, pixelRatio, onPick }: Props) {
  const text = useText();
  const reading = useId();
  const [pointed, setPointed] = useState<Cell | null>(null);
  const [focused, setFocused] = useState<Cell | null>(null);
  // Where the pointer is to a fraction of a pixel: a click comes with whole ones, which may be another cell's.
  const pressed = useRef<{ x: number; y: number } | null>(null);
  useLayoutEffect(() => {
    const [rows, columns] = axesOf(part);
    if (canvas.current) paint(canvas.current, { heatmap, scale, colours, rows, columns, margin, extent, pixelRatio });
  }, [canvas, heatmap, scale, colours, part, margin, extent, pixelRatio]);

  const inside = (cell: Cell): Cell => ({
    row: Math.min(heatmap.rows - 1, Math.max(0, cell.row)),
    column: Math.min(heatmap.columns - 1, Math.max(0, cell.column)),
  });
  const cell = pointed ? inside(pointed) : focused && inside(focused);

  const distance = (event: PointerEvent | React.MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left - margin.left, y: event.clientY - box.top - margin.top };
  };
  const move = (event: PointerEvent) => {
    const { x, y } = distance(event);
    const isInside = x >= 0 && y >= 0 && x < extent.width && y < extent.height;
    const next = { row: cellAt(y, extent.height, heatmap.rows), column: cellAt(x, extent.width, heatmap.columns) };
    setPointed((old) => (!isInside ? null : old?.row === next.row && old.column === next.column ? old : next));
  };
  const click = (event: React.MouseEvent) => {
    const { x, y } = pressed.current ?? distance(event);
    pressed.current = null;
    if (x < 0 || y < 0 || x >= extent.width || y >= extent.height) return;
    const position: [number, number] = [
      positionAt(y, extent.height, heatmap.rows, heatmap.shape[0]),
      positionAt(x, extent.width, heatmap.columns, heatmap.shape[1]),
    ];
    onPick({ row: cellAt(y, extent.height, heatmap.rows), column: cellAt(x, extent.width, heatmap.columns) }, position);
  };
  const press = (event: KeyboardEvent) => {
    const at = inside(focused ?? { row: 0, column: 0 });
    const next = moved(at, event.key, heatmap);
    if (event.key === "Enter") {
      const [inRows, inColumns] = spansOf(at, heatmap);
      onPick(at, [inRows.from, inColumns.from]);
    } else if (next) setFocused(focused ? inside(next) : at);
    else return;
    setPointed(null);
    event.preventDefault();
    event.stopPropagation();
  };

  const words = cell && `${placeText(cell, heatmap, part)}  ${valueText(cell, heatmap, reduce, text)}`;
  return (
    <>
      <div className="ss-heat-picture" style={{ width: margin.left + extent.width + 1, height: margin.top + extent.height + 1 }}>
        <canvas
          ref={canvas} className="ss-heat-canvas" role="application" tabIndex={0} data-testid="heatmap"
          aria-label={`${text.views.heatmap}. ${text.views.heatmapKeys}`} aria-describedby={reading}
          onPointerMove={move} onPointerDown={(event) => (pressed.current = distance(event))} onPointerLeave={() => setPointed(null)}
          onClick={click} onKeyDown={press}
          onFocus={(event) => event.currentTarget.matches(":focus-visible") && setFocused((old) => old ?? { row: 0, column: 0 })}
          onBlur={() => setFocused(null)}
        />
        {cell && <Frame cell={cell} heatmap={heatmap} margin={margin} extent={extent} words={pointed ? words! : null} />}
      </div>
      <Reading id={reading} words={words ?? text.views.heatmapKeys} />
    </>
  );
}

interface FrameProps {
  cell: Cell;
  heatmap: Heatmap;
  margin: Margin;
  extent: Extent;
  words: string | null;
}

/** Pixels beside a cell in which its words have room. */
const ROOM = 260;

function Frame({ cell, heatmap, margin, extent, words }: FrameProps) {
  const [width, height] = [extent.width / heatmap.columns, extent.height / heatmap.rows];
  const [left, top] = [margin.left + cell.column * width, margin.top + cell.row * height];
  const isRight = cell.column * width + width + ROOM < extent.width || cell.column * width < ROOM;
  const beside = isRight ? { left: left + width + 8 } : { right: margin.left + extent.width - left + 8 };
  const below = cell.row * height < extent.height / 2 ? { top: top + height / 2 } : { bottom: margin.top + extent.height - top - height / 2 };
  return (
    <>
      <div className="ss-heat-cell" style={{ left, top, width, height }} />
      {words && <div className="ss-heat-tip ss-mono" aria-hidden="true" style={{ ...beside, ...below }}>{words}</div>}
    </>
  );
}

function moved({ row, column }: Cell, key: string, { columns }: Heatmap): Cell | null {
  switch (key) {
    case "ArrowLeft":
      return { row, column: column - 1 };
    case "ArrowRight":
      return { row, column: column + 1 };
    case "ArrowUp":
      return { row: row - 1, column };
    case "ArrowDown":
      return { row: row + 1, column };
    case "PageUp":
      return { row: row - PAGE, column };
    case "PageDown":
      return { row: row + PAGE, column };
    case "Home":
      return { row, column: 0 };
    case "End":
      return { row, column: columns - 1 };
    default:
      return null;
  }
}
