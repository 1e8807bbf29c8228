/** What the tensor view asks for besides values and figures: pictures, places of values, changes beyond a threshold. */

import { queryOptions } from "@tanstack/react-query";
import { takeBytes } from "./bytes";
import { api, type Real, type Schemas, take } from "./client";
import { placeParameters, type TensorPlace } from "./queries";

/** Whose values: this step's, those of the step before, or how they changed (current − previous). */
export type Of = "current" | "previous" | "difference";

/** How the values of a cell become one, where a cell stands for several. */
export type Reduce = "mean" | "extreme" | "min" | "max";

export type What = "nonfinite" | "nan" | "inf" | "max" | "min";

/** What is asked again and again while one looks around is soon forgotten: it may be large, or of a step that is over. */
const KEPT = 30_000; // milliseconds

/** Of the part that `index` selects. */
export function histogramQuery(place: TensorPlace, moment: string, of: Of, index: string, bins: number) {
  return queryOptions({
    queryKey: ["histogram", place, moment, of, index, bins],
    queryFn: ({ signal }): Promise<Schemas["HistogramView"]> =>
      take(
        api.GET("/api/jobs/{job}/histogram", {
          params: { path: { job: place.job }, query: { ...placeParameters(place), of, index, bins } },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: KEPT,
  });
}

export interface Heatmap {
  dtype: string;
  step: number;
  /** Of the part, as two dimensions. */
  shape: [rows: number, columns: number];
  rows: number;
  columns: number;
  low: Real;
  high: Real;
  /** `rows × columns` in C order. */
  values: Float32Array;
  /** For each cell what is in it besides finite values: 1 NaN, 2 +Inf, 4 −Inf. */
  flags: Uint8Array;
}

export interface Cells {
  rows: number;
  columns: number;
  reduce: Reduce;
}

/** Of the part that `index` selects, which has two dimensions at most. */
export function heatmapQuery(place: TensorPlace, moment: string, of: Of, index: string, cells: Cells) {
  return queryOptions({
    queryKey: ["heatmap", place, moment, of, index, cells],
    queryFn: ({ signal }) => fetchHeatmap(place, of, index, cells, signal),
    staleTime: Infinity,
    gcTime: KEPT,
  });
}

async function fetchHeatmap(place: TensorPlace, of: Of, index: string, cells: Cells, signal: AbortSignal): Promise<Heatmap> {
  const address = addressOf(place, "heatmap", { of, index, ...cells });
  const { header, bytes } = await takeBytes<Schemas["HeatmapHeader"]>(address, "X-Stepscope-Heatmap", signal);
  return decodeHeatmap(header, bytes);
}

export function decodeHeatmap(header: Schemas["HeatmapHeader"], bytes: ArrayBuffer): Heatmap {
  const { rows, columns, shape } = header;
  const count = rows * columns;
  return {
    ...header,
    shape: [shape[0]!, shape[1]!],
    values: new Float32Array(bytes, 0, count),
    flags: new Uint8Array(bytes, 4 * count, count),
  };
}

/** Where a value is in the part that `index` selects: the first place behind position `after` in C order. */
export function placeQuery(place: TensorPlace, moment: string, of: Of, index: string, what: What, after: number | null) {
  const behind = after === null ? {} : { after };
  return queryOptions({
    queryKey: ["place", place, moment, of, index, what, after],
    queryFn: ({ signal }): Promise<Schemas["PlaceView"]> =>
      take(
        api.GET("/api/jobs/{job}/place", {
          params: { path: { job: place.job }, query: { ...placeParameters(place), of, index, what, ...behind } },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: KEPT,
  });
}

/** How many elements of the part differ by more than `threshold` from the step before. */
export function beyondQuery(place: TensorPlace, moment: string, index: string, threshold: number) {
  return queryOptions({
    queryKey: ["beyond", place, moment, index, threshold],
    queryFn: ({ signal }): Promise<Schemas["BeyondView"]> =>
      take(
        api.GET("/api/jobs/{job}/beyond", {
          params: { path: { job: place.job }, query: { ...placeParameters(place), index, threshold } },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: KEPT,
  });
}

/** For a link: the values as a file of numpy. An empty `index` is the whole tensor. */
export function npyAddress(place: TensorPlace, when: "current" | "previous", index: string): string {
  return addressOf(place, "tensor.npy", { when, ...(index ? { index } : {}) });
}

function addressOf(place: TensorPlace, what: string, parameters: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...placeParameters(place), ...parameters })) query.set(name, String(value));
  return `/api/jobs/${encodeURIComponent(place.job)}/${what}?${query}`;
}
