/** What the parts of the tensor view agree on. */

import type { JobView, Statistics } from "../api/client";
import type { TensorPlace } from "../api/queries";
import type { Of } from "../api/views";

export type { Of };

/** A tensor to go to: an output, or what the node read as its input number `input`. */
export interface TensorTarget {
  graph: string;
  node: string;
  slot: number;
  input?: number;
}

/** The part of a tensor that is looked at. */
export interface Shown {
  job: JobView;
  place: TensorPlace;
  of: Of;
  /** Slice text of the part, with two free dimensions at most. */
  index: string;
  /** Lengths of the free dimensions: none for a single element. */
  partShape: number[];
  fullShape: number[];
  dtype: string;
  /** The pause whose values are meant: see `useMoment`. */
  moment: string;
  /** Whether values can be asked for now. */
  isLive: boolean;
  /** Of the whole tensor, as `of` says; undefined while they are on their way. */
  figures: Statistics | undefined;
}
