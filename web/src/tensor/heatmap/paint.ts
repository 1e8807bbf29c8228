/** Draws a heat map with the indices of its axes on a canvas. */

import type { Heatmap } from "../../api/views";
import { css, type HeatColours, NAN, pixelsOf, type Scale } from "../colours";
import type { Range } from "../dims";
import { type Extent, ticksOf, widestLabel } from "./cells";

export interface Margin {
  left: number;
  top: number;
}

export interface Painting {
  heatmap: Heatmap;
  scale: Scale | null;
  colours: HeatColours;
  rows: Range;
  columns: Range;
  margin: Margin;
  extent: Extent;
  /** Of a device for one of the style sheet. */
  pixelRatio: number;
}

const FONT = '11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const CHARACTER = 6.7; // pixels
const ROW_GAP = 18; // pixels from label to label

/** Room for the indices left of the picture and above it. */
export function marginOf(rows: Range): Margin {
  return { left: Math.ceil(widestLabel(rows) * CHARACTER) + 12, top: 20 };
}

export function paint(canvas: HTMLCanvasElement, painting: Painting): void {
  const { margin, extent, pixelRatio, colours } = painting;
  canvas.width = Math.ceil((margin.left + extent.width + 1) * pixelRatio);
  canvas.height = Math.ceil((margin.top + extent.height + 1) * pixelRatio);
  const context = canvas.getContext("2d")!;
  context.scale(pixelRatio, pixelRatio);
  context.save();
  context.translate(margin.left, margin.top);
  paintCells(context, painting);
  context.restore();
  context.strokeStyle = css(colours.dim);
  context.globalAlpha = 0.5;
  context.lineWidth = 1 / pixelRatio;
  context.strokeRect(margin.left, margin.top, extent.width, extent.height);
  context.globalAlpha = 1;
  paintTicks(context, painting);
}

function paintCells(context: CanvasRenderingContext2D, { heatmap, scale, colours, extent }: Painting): void {
  const { rows, columns, values, flags } = heatmap;
  const small = document.createElement("canvas");
  small.width = columns;
  small.height = rows;
  const pixels = pixelsOf(values, flags, scale, colours);
  small.getContext("2d")!.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows), 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, extent.width, extent.height);
  paintMarks(context, heatmap, colours, extent);
}

/** Pixels of a mark at least: one NaN among a million values must be seen. */
const SMALLEST_MARK = 4;
/** More of them are seen anyhow. */
const MOST_MARKS = 20_000;

function paintMarks(context: CanvasRenderingContext2D, heatmap: Heatmap, colours: HeatColours, extent: Extent): void {
  const { rows, columns, flags } = heatmap;
  const [width, height] = [extent.width / columns, extent.height / rows];
  if (width >= SMALLEST_MARK && height >= SMALLEST_MARK) return;
  let count = 0;
  for (const flag of flags) if (flag) count++;
  if (count === 0 || count > MOST_MARKS) return;
  const [wide, high] = [Math.max(width, SMALLEST_MARK), Math.max(height, SMALLEST_MARK)];
  flags.forEach((flag, at) => {
    if (!flag) return;
    const [row, column] = [Math.floor(at / columns), at % columns];
    const left = Math.max(0, Math.min(extent.width - wide, (column + 0.5) * width - wide / 2));
    const top = Math.max(0, Math.min(extent.height - high, (row + 0.5) * height - high / 2));
    context.fillStyle = css(flag & NAN ? colours.nan : colours.infinite);
    context.fillRect(left, top, wide, high);
  });
}

function paintTicks(context: CanvasRenderingContext2D, { rows, columns, margin, extent, colours }: Painting): void {
  context.font = FONT;
  context.fillStyle = css(colours.dim);
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const { at, label } of ticksOf(rows, extent.height, ROW_GAP)) {
    context.fillText(label, margin.left - 6, margin.top + at);
  }
  context.textAlign = "center";
  for (const { at, label } of ticksOf(columns, extent.width, widestLabel(columns) * CHARACTER + 12)) {
    const half = (label.length * CHARACTER) / 2;
    const centre = Math.max(half, Math.min(extent.width - half, at));
    context.fillText(label, margin.left + centre, margin.top - 9);
  }
}
