/** How the values of the part shown, or of the whole tensor, are spread; what is not finite is counted beside it. */

import "../views.css";
import { Checkbox, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { keepPreviousData, skipToken, useQuery } from "@tanstack/react-query";
import { lazy, type Ref, Suspense, useImperativeHandle, useMemo, useRef } from "react";
import type { Schemas } from "../../api/client";
import { histogramQuery, type Of } from "../../api/views";
import { useText } from "../../i18n";
import { errorText } from "../../i18n/errors";
import { number, real } from "../../i18n/numbers";
import { Choice } from "../Choice";
import { heatColours } from "../colours";
import { BINS, useOptions } from "../options";
import type { Shown } from "../parts";
import { framed, headingOf, type Key, type Pictured } from "../picture";
import { READING_HEIGHT } from "../Reading";
import { type Bins, binsOf, binText, frameOf, scaledTo } from "./bins";
import type { ChartHandle } from "./HistogramChart";

const HistogramChart = lazy(() => import("./HistogramChart"));

type HistogramView = Schemas["HistogramView"];

const OTHER = { current: "previous", previous: "current", difference: null } as const;

interface Props {
  shown: Shown;
  ref?: Ref<Pictured>;
}

export function HistogramPane({ shown, ref }: Props) {
  const text = useText();
  const { of, isLive } = shown;
  const { bins: count, isOfWhole, isLogarithmic, hasOverlay } = useOptions();
  const index = isOfWhole ? "" : shown.index;
  const chart = useRef<ChartHandle>(null);
  const box = useElementSize();
  const isDark = useComputedColorScheme() === "dark";
  const otherOf = hasOverlay ? OTHER[of] : null;
  const main = useHistogram(shown, of, index, count, true);
  const second = useHistogram(shown, otherOf ?? of, index, count, otherOf !== null);
  const data = main.data;
  const otherData = otherOf && second.data;
  const error = main.error ?? (otherOf ? second.error : null);

  const drawn = useMemo(() => {
    const bins = data && binsOf(data);
    if (!bins || box.width === 0 || box.height <= READING_HEIGHT) return null;
    const others = otherData ? binsOf(otherData) : null;
    const other = others && scaledTo(others, bins);
    const size = { width: Math.floor(box.width), height: Math.floor(box.height) - READING_HEIGHT };
    return { bins, other, frame: frameOf(bins, other), dtype: data.dtype, isLogarithmic, colours: heatColours(isDark), ...size };
  }, [data, otherData, isLogarithmic, isDark, box.width, box.height]);
  const others = drawn?.other && otherData ? binsOf(otherData) : null;
  const label = drawn && summary(drawn.bins, text.views.summary);

  useImperativeHandle(ref, () => ({
    picture: () => {
      const canvas = chart.current?.canvas();
      if (!canvas || !data || !drawn) return null;
      const lines = [...headingOf({ ...shown, index: index || ":" }, data.step, text), label!];
      const keys: Key[] = [{ colour: drawn.colours.above, words: text.views.step[of] }];
      if (others && otherOf) keys.push({ colour: drawn.colours.below, words: text.views.step[otherOf] });
      return framed(canvas, { lines, keys, colours: drawn.colours, pixelRatio: canvas.width / drawn.width });
    },
  }));

  return (
    <section className="ss-histogram" aria-label={text.views.histogram} aria-busy={isLive && (!data || main.isPlaceholderData)}>
      <Bar shown={shown} />
      {error && <p className="ss-note" role="alert">{errorText(error, text)}</p>}
      <div className={isLive ? "ss-histogram-main" : "ss-histogram-main ss-views-old"}>
        <div className="ss-histogram-column">
          <div ref={box.ref} className="ss-histogram-box">
            {drawn && (
              <Suspense>
                <HistogramChart
                  ref={chart} drawn={drawn} label={label!}
                  other={others && otherOf && { bins: others, name: text.views.step[otherOf] }}
                />
              </Suspense>
            )}
            {data && !binsOf(data) && <p className="ss-note">{data.count === 0 ? text.views.noElements : text.views.noFinite}</p>}
          </div>
        </div>
        {data && <Figures of={of} data={data} other={otherOf && otherData ? { of: otherOf, data: otherData } : null} />}
      </div>
      {drawn && <BinTable bins={drawn.bins} dtype={drawn.dtype} caption={label!} />}
    </section>
  );
}

function useHistogram({ place, moment, isLive }: Shown, of: Of, index: string, bins: number, isWanted: boolean) {
  const options = histogramQuery(place, moment, of, index, bins);
  return useQuery({
    ...options,
    queryFn: isLive && isWanted ? options.queryFn : skipToken,
    placeholderData: keepPreviousData,
  });
}

function summary(bins: Bins, words: (values: number, low: string, high: string, bins: number) => string): string {
  const values = bins.counts.reduce((all, count) => all + count, 0);
  return words(values, real(bins.low), real(bins.high), bins.counts.length);
}

function Bar({ shown: { of, partShape, fullShape } }: { shown: Shown }) {
  const text = useText();
  const { bins, isOfWhole, isLogarithmic, hasOverlay, set } = useOptions();
  const size = (shape: number[]) => shape.reduce((all, each) => all * each, 1);
  return (
    <div className="ss-views-bar">
      {size(partShape) < size(fullShape) && (
        <Choice
          label={text.views.extent} value={isOfWhole ? "whole" : "part"} onChange={(value) => set({ isOfWhole: value === "whole" })}
          options={[["part", text.views.extents.part], ["whole", text.views.extents.whole]]}
        />
      )}
      <Choice
        label={text.views.bins} value={String(bins)} onChange={(value) => set({ bins: Number(value) })}
        options={BINS.map((each) => [String(each), String(each)])}
      />
      <Checkbox
        size="xs" label={text.views.logarithmic} checked={isLogarithmic}
        onChange={(event) => set({ isLogarithmic: event.currentTarget.checked })}
      />
      {of !== "difference" && (
        <Checkbox
          size="xs" label={text.views.overlay[of]} checked={hasOverlay}
          onChange={(event) => set({ hasOverlay: event.currentTarget.checked })}
        />
      )}
    </div>
  );
}

interface FiguresProps {
  of: Of;
  data: HistogramView;
  other: { of: Of; data: HistogramView } | null;
}

function Figures({ of, data, other }: FiguresProps) {
  const text = useText();
  const rows: [name: string, value: (view: HistogramView) => string, isBad?: (view: HistogramView) => boolean][] = [
    [text.count, (view) => number(view.count)],
    [text.views.finite, (view) => number(view.count - view.nan_count - view.positive_inf_count - view.negative_inf_count)],
    ["NaN", (view) => number(view.nan_count), (view) => view.nan_count > 0],
    ["+Inf", (view) => number(view.positive_inf_count), (view) => view.positive_inf_count > 0],
    ["−Inf", (view) => number(view.negative_inf_count), (view) => view.negative_inf_count > 0],
    [text.min, (view) => real(view.low)],
    [text.max, (view) => real(view.high)],
  ];
  return (
    <table className="ss-histogram-figures" data-testid="histogram-figures">
      {other && (
        <thead>
          <tr>
            <td />
            {[of, other.of].map((each, at) => (
              <th key={each} scope="col"><span className={at === 0 ? "ss-histogram-own" : "ss-histogram-other"} />{text.views.step[each]}</th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map(([name, value, isBad]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {[data, ...(other ? [other.data] : [])].map((view, at) => (
              <td key={at} className={isBad?.(view) ? "ss-mono ss-bad" : "ss-mono"}>{value(view)}</td>
            ))}
          </tr>
        ))}
      </tbody>
      {other && <caption>{text.views.sameWidth}</caption>}
    </table>
  );
}

/** What the chart says, for those who do not see it. */
function BinTable({ bins, dtype, caption }: { bins: Bins; dtype: string; caption: string }) {
  const text = useText();
  return (
    <div className="ss-hidden">
      <table data-testid="histogram-bins">
        <caption>{caption}</caption>
        <thead>
          <tr><th scope="col">{text.views.from}</th><th scope="col">{text.views.valueCount}</th></tr>
        </thead>
        <tbody>
          {bins.counts.map((count, at) => (
            <tr key={at}><th scope="row">{binText(bins, at, dtype)}</th><td>{number(count)}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
