/** What the page keeps of the lineage while it goes from tensor to tensor: the trace that is on, and where one was. */

import { create } from "zustand";
import { NO_TRAIL, type Trail } from "./trail";

/** One output of a node. */
export interface Tensor {
  graph: string;
  node: string;
  slot: number;
}

export interface Trace extends Tensor {
  job: string;
  /** Of the hit that is traced; null: whatever is wrong with the tensor. */
  watchpoint: number | null;
}

interface LineageState {
  trace: Trace | null;
  /** A trace of the tensor that is shown was asked for, outside of its lineage. */
  isAsked: boolean;
  trail: Trail<Tensor & { job: string }>;
  /** A tensor was opened by keys in the drawing: the next drawing goes on with them. */
  isByKeys: boolean;
}

export const useLineage = create<LineageState>(() => ({ trace: null, isAsked: false, trail: NO_TRAIL, isByKeys: false }));

/** Marks the way from where a fault began to this tensor, wherever its lineage is shown. */
export function traceToOrigin(trace: Trace): void {
  useLineage.setState({ trace, isAsked: false });
}

/** The same for the tensor that is shown, as soon as its lineage is there. */
export function traceShown(): void {
  useLineage.setState({ isAsked: true });
}

/** The view is opened from elsewhere: what lies behind is no tensor. */
export function beginTrail(): void {
  useLineage.setState({ trail: NO_TRAIL });
}

export function endTrace(): void {
  useLineage.setState({ trace: null });
}

export function isSameTensor(a: Tensor, b: Tensor): boolean {
  return a.graph === b.graph && a.node === b.node && a.slot === b.slot;
}
