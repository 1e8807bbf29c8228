/** The chart of a histogram; under the pointer and the arrow keys a bin says what it is. Loaded when one is first shown. */

import "uplot/dist/uPlot.min.css";
import { type KeyboardEvent, type Ref, useEffect, useId, useImperativeHandle, useRef, useState } from "react";
import uPlot from "uplot";
import { useText } from "../../i18n";
import { percent } from "../../i18n/numbers";
import { Reading } from "../Reading";
import { type Bins, binAt, binText, drawnEdges } from "./bins";
import { chartData, chartOptions, type Drawn } from "./chart";

export interface ChartHandle {
  canvas(): HTMLCanvasElement | null;
}

interface Props {
  drawn: Drawn;
  /** The other histogram with its counts as they are. */
  other: { bins: Bins; name: string } | null;
  label: string;
  ref?: Ref<ChartHandle>;
}

export default function HistogramChart({ drawn, other, label, ref }: Props) {
  const text = useText();
  const reading = useId();
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const edges = drawnEdges(drawn.bins, drawn.frame);

  useEffect(() => {
    const made = new uPlot(chartOptions(drawn, setShare), chartData(drawn), box.current!);
    chart.current = made;
    return () => {
      made.destroy();
      chart.current = null;
    };
  }, [drawn]);

  useImperativeHandle(ref, () => ({ canvas: () => chart.current?.ctx.canvas ?? null }), []);

  const bin = share === null ? null : binAt(edges, share);
  const press = (event: KeyboardEvent) => {
    const last = edges.length - 2;
    const next = { ArrowLeft: (bin ?? 1) - 1, ArrowRight: (bin ?? -1) + 1, Home: 0, End: last }[event.key];
    if (next === undefined || !chart.current) return;
    event.preventDefault();
    event.stopPropagation();
    const at = Math.min(last, Math.max(0, next));
    const middle = (edges[at]! + edges[at + 1]!) / 2;
    chart.current.setCursor({ left: chart.current.valToPos(middle, "x"), top: 0 });
  };
  const told = (bins: Bins, at: number) =>
    text.views.binCount(binText(bins, at, drawn.dtype), bins.counts[at]!, percent(bins.counts[at]!, sum(bins)));
  const otherBin = other && share !== null ? binAt(drawnEdges(other.bins, drawn.frame), share) : null;
  const words = [
    bin === null ? "" : told(drawn.bins, bin),
    other && otherBin !== null ? `${other.name} ${told(other.bins, otherBin)}` : "",
  ];
  return (
    <>
      <div
        ref={box} className="ss-histogram-chart" role="application" tabIndex={0} data-testid="histogram"
        aria-label={`${label}. ${text.views.histogramKeys}`} aria-describedby={reading}
        onKeyDown={press} onBlur={() => setShare(null)}
      />
      <Reading id={reading} words={words.filter(Boolean).join("  ·  ") || text.views.histogramKeys} />
    </>
  );
}

function sum({ counts }: Bins): number {
  return counts.reduce((all, count) => all + count, 0);
}
