/** How heat maps and histograms are shown: kept while one goes from tensor to tensor. */

import { create } from "zustand";
import type { Reduce } from "../api/views";

/** What the colours of a heat map go over. */
export type Colouring = "part" | "whole" | "middle";

export const REDUCES: readonly Reduce[] = ["mean", "extreme", "min", "max"];
export const COLOURINGS: readonly Colouring[] = ["part", "whole", "middle"];
export const BINS: readonly number[] = [20, 60, 200];

interface Options {
  reduce: Reduce;
  colouring: Colouring;
  bins: number;
  /** The histogram is that of the whole tensor, whatever part is shown. */
  isOfWhole: boolean;
  isLogarithmic: boolean;
  /** The histogram of the other step over that of the step shown. */
  hasOverlay: boolean;
  set(change: Partial<Omit<Options, "set">>): void;
}

export const useOptions = create<Options>((set) => ({
  reduce: "mean",
  colouring: "part",
  bins: 60,
  isOfWhole: false,
  isLogarithmic: false,
  hasOverlay: false,
  set,
}));
