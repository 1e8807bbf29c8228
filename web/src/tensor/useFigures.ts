/** What is known of a whole tensor: its shape at once, its figures as soon as they are worked out. */

import { keepPreviousData, queryOptions, skipToken, useQuery } from "@tanstack/react-query";
import { ApiError, type Schemas, type Statistics } from "../api/client";
import { compareQuery, statsQuery, tensorAddress, type TensorPlace } from "../api/queries";
import { fetchValues } from "../api/tensor";
import type { Of } from "./parts";

export interface Form {
  dtype: string;
  shape: number[];
  step: number;
}

/** Type and shape, without a value: the figures of a large tensor take longer. A scalar has no dimension to cut. */
function formQuery(place: TensorPlace, moment: string, when: "current" | "previous", isScalar: boolean) {
  return queryOptions({
    queryKey: ["form", place, moment, when],
    queryFn: async ({ signal }): Promise<Form> => {
      const ask = (index: string) => fetchValues(tensorAddress(place, when, index), signal);
      const { dtype, fullShape, step } = await ask(isScalar ? "" : "0:0").catch((error: unknown) => {
        if (error instanceof ApiError && error.field === "index") return ask(""); // the graph did not say that it is one
        throw error;
      });
      return { dtype, shape: fullShape, step };
    },
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

export interface Known {
  form: Form | undefined;
  figures: Statistics | undefined;
  comparison: Schemas["ComparisonView"] | undefined;
  /** They are those of the pause before; the new ones are on their way. */
  isOld: boolean;
  /** Why there are no values. */
  error: Error | null;
  /** Why there are no figures; values may be there all the same. */
  figuresError: Error | null;
}

/** `isScalar`: whether the graph says so; null while that is on its way. */
export function useKnown(place: TensorPlace, moment: string, isLive: boolean, of: Of, isScalar: boolean | null): Known {
  const when = of === "previous" ? "previous" : "current";
  const compareOptions = compareQuery(place, moment);
  const compare = useQuery({
    ...compareOptions,
    queryFn: isLive && of === "difference" ? compareOptions.queryFn : skipToken,
    placeholderData: keepPreviousData,
  });
  const compared = compare.isPlaceholderData ? undefined : compare.data;
  const statsOptions = statsQuery(place, moment, when);
  const stats = useQuery({
    ...statsOptions,
    queryFn: isLive && of !== "difference" && !compared ? statsOptions.queryFn : skipToken,
    // of the pause before; never those of the other step
    placeholderData: (data: Statistics | undefined, query) => (query?.queryKey[3] === when ? data : undefined),
  });
  const formOptions = formQuery(place, moment, when, isScalar === true);
  const known = of === "difference" ? compared?.difference : (compared?.[when] ?? stats.data);
  const form = useQuery({ ...formOptions, queryFn: isLive && !known && isScalar !== null ? formOptions.queryFn : skipToken });
  const figures = of === "difference" ? compare.data?.difference : (compared?.[when] ?? stats.data);
  const dtype = compare.data?.current.dtype;
  const fromFigures = figures && { dtype: of === "difference" && dtype ? dtype : figures.dtype, shape: figures.shape, step: figures.step };
  const figuresError = of === "difference" ? compare.error : compared ? null : stats.error;
  return {
    form: fromFigures ?? form.data,
    figures,
    comparison: of === "difference" ? compare.data : compared,
    isOld: of === "difference" ? compare.isPlaceholderData : !compared && stats.isPlaceholderData,
    error: of === "difference" ? (form.error ?? compare.error) : form.error,
    figuresError,
  };
}
