/** A histogram as uPlot draws it: an outline in steps, filled; and that of another one over it. */

import uPlot from "uplot";
import { real } from "../../i18n/numbers";
import { css, type HeatColours, type Rgb } from "../colours";
import { type Bins, drawnEdges, type Frame, heightsAt, marksOf } from "./bins";

export interface Drawn {
  bins: Bins;
  /** Another histogram, with counts for bins as wide as those of `bins`. */
  other: Bins | null;
  frame: Frame;
  dtype: string;
  isLogarithmic: boolean;
  colours: HeatColours;
  width: number;
  height: number;
}

const FONT = '11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
/** Where bars stand on a logarithmic axis: a bin of one value must be seen. */
const FLOOR = 0.7;
/** Between the lines of counts: 1, 2, 5, 10, … */
const WHOLE_STEPS = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((factor) => factor * 10 ** power)).flat();
/** Pixels from label to label. */
const LABEL_GAP = 90;

/**
 * `onPoint` is called with where the pointer is, as a share of the drawing's width; null outside. The horizontal scale
 * has shares, too: the values may be closer to each other, or farther apart, than a chart's axis can say.
 */
export function chartOptions(drawn: Drawn, onPoint: (share: number | null) => void): uPlot.Options {
  const { isLogarithmic, colours, other, frame, dtype } = drawn;
  const most = Math.max(1, ...drawn.bins.counts, ...(other?.counts ?? []));
  const marks = marksOf(drawn.bins, frame, dtype, drawn.width / LABEL_GAP);
  const axis = { stroke: css(colours.dim), font: FONT, ticks: { show: false } };
  const grid = { stroke: fade(colours.dim, 0.2), width: 1 };
  const steps = uPlot.paths.stepped!({ align: 1 });
  const series = { points: { show: false }, paths: steps };
  return {
    width: drawn.width,
    height: drawn.height,
    padding: [10, 36, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
    scales: {
      x: { time: false, range: [0, 1] },
      y: isLogarithmic ? { distr: 3, range: [FLOOR, most * 1.3] } : { range: [0, most * 1.06] },
    },
    axes: [
      { ...axis, grid, size: 24, splits: () => marks.map(({ at }) => at), values: () => marks.map(({ label }) => label) },
      {
        ...axis,
        size: 58,
        ...(isLogarithmic ? {} : { incrs: WHOLE_STEPS }),
        grid: { ...grid, filter: (_, splits) => splits.map((value) => (!isLogarithmic || isPower(value) ? value : null)) },
        values: (_, splits) => splits.map((value) => (value === null ? "" : countText(value))),
      },
    ],
    series: [
      {},
      { ...series, fill: fade(colours.above, 0.35), stroke: css(colours.above), width: 1 },
      { ...series, show: other !== null, stroke: css(colours.below), width: 2 },
    ],
    hooks: {
      setCursor: [
        (chart) => {
          const left = chart.cursor.left ?? -1;
          onPoint(left < 0 ? null : chart.posToVal(left, "x"));
        },
      ],
    },
  };
}

/** The outlines at all edges of both. */
export function chartData({ bins, other, frame, isLogarithmic }: Drawn): uPlot.AlignedData {
  const edges = drawnEdges(bins, frame);
  const otherEdges = other ? drawnEdges(other, frame) : [];
  const places = [...new Set([...edges, ...otherEdges])].sort((one, two) => one - two);
  const heights = (counts: readonly number[], own: readonly number[]) =>
    heightsAt(counts, own, places).map((count) => (isLogarithmic ? Math.max(FLOOR, count) : count));
  return [places, closed(heights(bins.counts, edges)), other ? closed(heights(other.counts, otherEdges)) : places.map(() => null)];
}

/** A step reaches to the next place; the last bin's end is the last place, to which its height has to be held. */
function closed(heights: number[]): number[] {
  return [...heights.slice(0, -1), heights.at(-2) ?? 0];
}

function isPower(value: number): boolean {
  const exponent = Math.log10(value);
  return Math.abs(exponent - Math.round(exponent)) < 1e-9;
}

/** "1200", "12k", "3.5M" */
function countText(count: number): string {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]] as const) {
    if (count >= size) return `${real(count / (unit === "k" ? 1e3 : size), 3)}${unit}`;
  }
  return Number.isInteger(count) ? String(count) : "";
}

function fade([red, green, blue]: Rgb, share: number): string {
  return `rgb(${red} ${green} ${blue} / ${share})`;
}
