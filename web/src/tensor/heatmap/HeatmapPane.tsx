/**
 * The part shown as a picture: a cell for each value, or for several where there are more values than device pixels. The
 * server makes the cells, so that a picture costs the same for every size of a tensor.
 */

import "../views.css";
import { useComputedColorScheme } from "@mantine/core";
import { useDebouncedValue, useElementSize } from "@mantine/hooks";
import { keepPreviousData, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Ref, useImperativeHandle, useMemo, useRef } from "react";
import { type Heatmap, heatmapQuery, placeQuery, type What } from "../../api/views";
import { useText } from "../../i18n";
import { errorText } from "../../i18n/errors";
import { real } from "../../i18n/numbers";
import { Choice } from "../Choice";
import { css, type HeatColours, heatColours, NAN, type Scale, scaleOf } from "../colours";
import { type Part, partOf, pieceText } from "../dims";
import { COLOURINGS, REDUCES, useOptions } from "../options";
import type { Shown } from "../parts";
import { framed, headingOf, type Key, type Pictured, stopsOf } from "../picture";
import { READING_HEIGHT } from "../Reading";
import { cellsWanted, extentOf } from "./cells";
import { HeatmapCanvas } from "./HeatmapCanvas";
import { marginOf } from "./paint";
import { axesOf, type Cell, inPart, spansOf, standsForOne } from "./reading";

interface Props {
  shown: Shown;
  /** Called with a position in the part, which the table then shows. */
  onPick(position: number[]): void;
  ref?: Ref<Pictured>;
}

/** Milliseconds that the pane has to rest until its cells are asked for anew. */
const REST = 150;

export function HeatmapPane({ shown, onPick, ref }: Props) {
  const text = useText();
  const { place, moment, of, index, fullShape, isLive, figures } = shown;
  const { reduce, colouring, set } = useOptions();
  const client = useQueryClient();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useElementSize();
  const colours = heatColours(useComputedColorScheme() === "dark");
  const part = useMemo(() => readPart(index, fullShape), [index, fullShape]);
  const [rows, columns] = axesOf(part);
  const margin = marginOf(rows);
  const pane = { width: box.width - margin.left - 1, height: box.height - margin.top - 1 - READING_HEIGHT };
  const isEmpty = rows.length === 0 || columns.length === 0;
  const extent = extentOf(rows.length, columns.length, pane);
  const pixelRatio = window.devicePixelRatio || 1;
  const isMeasured = box.width > 0 && box.height > 0;
  const cells = isMeasured ? cellsWanted(rows.length, columns.length, extent, pixelRatio).join() : "";
  const [wanted] = useDebouncedValue(cells, REST, { leading: true });
  const [rowCells = 1, columnCells = 1] = wanted.split(",").map(Number);
  const options = heatmapQuery(place, moment, of, index, { rows: rowCells, columns: columnCells, reduce });
  const isReady = isLive && !isEmpty && wanted !== "";
  const { data, error, isPlaceholderData } = useQuery({
    ...options,
    queryFn: isReady ? options.queryFn : skipToken,
    placeholderData: keepPreviousData,
  });
  const heatmap = data && fits(data, rows.length, columns.length) ? data : null;
  const scale = heatmap && scaleFor(heatmap, colouring, figures);

  useImperativeHandle(ref, () => ({
    picture: () => {
      if (!canvas.current || !heatmap) return null;
      const legend = scale ? { scale, low: real(scale.low, 4), high: real(scale.high, 4) } : undefined;
      const keys = keysOf(heatmap.flags, colours);
      return framed(canvas.current, { lines: headingOf(shown, heatmap.step, text), colours, pixelRatio, legend, keys });
    },
  }));

  const pick = async (cell: Cell, position: [number, number]) => {
    const what = heatmap && meantBy(cell, heatmap, reduce);
    if (!what) return onPick(inPart(part, position));
    const spans = spansOf(cell, heatmap).slice(2 - part.free.length);
    const piece = pieceText(part, spans.map(({ from }) => from), spans.map(({ to }) => to));
    try {
      const found = await client.fetchQuery(placeQuery(place, moment, of, piece, what, null));
      onPick(found.position ? found.position.map((at, each) => spans[each]!.from + at) : inPart(part, position));
    } catch {
      onPick(inPart(part, position)); // near it is better than nowhere
    }
  };

  return (
    <section className="ss-heat" aria-label={text.views.heatmap} aria-busy={isReady && (!data || isPlaceholderData)}>
      <div className="ss-views-bar">
        {heatmap && !standsForOne(heatmap) && (
          <>
            <Choice
              label={text.views.reduce} value={reduce} onChange={(value) => set({ reduce: value })}
              options={REDUCES.map((value) => [value, text.views.reduces[value]])}
            />
            <span className="ss-dimmed">{text.views.cellIs(...valuesOfCell(heatmap))}</span>
          </>
        )}
        <Choice
          label={text.views.colours} value={colouring} onChange={(value) => set({ colouring: value })}
          options={COLOURINGS.map((value) => [value, text.views.scales[value]])}
        />
        {heatmap && <Legend scale={scale} colours={colours} flags={heatmap.flags} />}
      </div>
      {error && <p className="ss-note" role="alert">{errorText(error, text)}</p>}
      {isEmpty && <p className="ss-note">{text.views.noElements}</p>}
      <div ref={box.ref} className={isLive ? "ss-heat-box" : "ss-heat-box ss-views-old"}>
        {heatmap && (
          <HeatmapCanvas
            canvas={canvas} heatmap={heatmap} part={part} reduce={reduce} scale={scale} colours={colours}
            margin={margin} extent={extent} pixelRatio={pixelRatio} onPick={(cell, position) => void pick(cell, position)}
          />
        )}
      </div>
    </section>
  );
}

/** The part that an index text names, which the dimension fields have checked. */
function readPart(index: string, fullShape: number[]): Part {
  const part = partOf(index.split(","), fullShape);
  if (part instanceof Map) throw new Error(`no part of [${fullShape.join(", ")}]: ${index}`);
  return part;
}

function fits({ shape }: Heatmap, rows: number, columns: number): boolean {
  return shape[0] === rows && shape[1] === columns;
}

function valuesOfCell({ shape, rows, columns }: Heatmap): [rows: number, columns: number] {
  return [Math.ceil(shape[0] / rows), Math.ceil(shape[1] / columns)];
}

function scaleFor({ low, high }: Heatmap, colouring: string, figures: Shown["figures"]): Scale | null {
  const whole = colouring === "whole" && figures ? scaleOf(figures.min, figures.max, "zero") : null;
  return whole ?? scaleOf(low, high, colouring === "middle" ? "middle" : "zero");
}

/** What one wants to see who clicks on a cell of several values; null where it is any of them. */
function meantBy({ row, column }: Cell, heatmap: Heatmap, reduce: string): What | null {
  const at = row * heatmap.columns + column;
  if (standsForOne(heatmap)) return null;
  if (heatmap.flags[at]) return "nonfinite";
  if (reduce === "min" || reduce === "max") return reduce;
  if (reduce === "extreme") return heatmap.values[at]! < 0 ? "min" : "max";
  return null;
}

/** The colours of what is not finite, as far as the picture has it. */
function keysOf(flags: Uint8Array, colours: HeatColours): Key[] {
  const keys: Key[] = [];
  if (flags.some((flag) => flag & NAN)) keys.push({ colour: colours.nan, words: "NaN" });
  if (flags.some((flag) => flag & ~NAN)) keys.push({ colour: colours.infinite, words: "±Inf" });
  return keys;
}

function Legend({ scale, colours, flags }: { scale: Scale | null; colours: HeatColours; flags: Uint8Array }) {
  const text = useText();
  const keys = useMemo(() => keysOf(flags, colours), [flags, colours]);
  return (
    <span className="ss-heat-legend">
      {scale && (
        <>
          <span className="ss-mono">{real(scale.low, 4)}</span>
          <span
            className="ss-heat-scale" role="img" aria-label={text.views.legend(real(scale.low, 4), real(scale.high, 4))}
            style={{ background: gradientOf(scale, colours) }}
          />
          <span className="ss-mono">{real(scale.high, 4)}</span>
        </>
      )}
      {keys.map(({ colour, words }) => (
        <span key={words} className="ss-heat-key"><span className="ss-heat-swatch" style={{ background: css(colour) }} />{words}</span>
      ))}
    </span>
  );
}

function gradientOf(scale: Scale, colours: HeatColours): string {
  const stops = stopsOf(scale, colours).map(([share, colour]) => `${colour} ${100 * share}%`);
  return stops.length > 1 ? `linear-gradient(to right, ${stops.join(", ")})` : css(colours.ground);
}
