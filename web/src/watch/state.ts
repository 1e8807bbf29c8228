/** What this page looks at of the watchpoints: the one whose nodes are ticked, the open dialog, the list of hits. */

import { create } from "zustand";
import type { Selection } from "../graph/contract";

export type Tab = "nodes" | "hits";

export type Dialog =
  /** `at` is what was selected; `isThere` means a watchpoint on just that. */
  | { kind: "new"; at: (Selection & { graph: string }) | null; isThere: boolean }
  | { kind: "edit"; id: number }
  | { kind: "delete"; id: number }
  | { kind: "clear" };

export interface HitFilter {
  watchpoint: number | null;
  text: string;
  rank: number | null;
  kind: "hit" | "error" | null;
}

export const NO_HIT_FILTER: HitFilter = { watchpoint: null, text: "", rank: null, kind: null };

interface WatchState {
  job: string | null;
  tab: Tab;
  /** Number of the watchpoint whose nodes are ticked in the node list. */
  ticking: number | null;
  dialog: Dialog | null;
  hitFilter: HitFilter;
  /** The hit that was clicked, as `hitKey` has it. */
  hit: string | null;
  /** Its row in the list, to come back to. */
  hitRow: number;
  /** The job's `hits_revision` when this page asked for a check of the present step; null once the answer is there. */
  recheckedFrom: number | null;
}

const START: Omit<WatchState, "job"> = {
  tab: "nodes",
  ticking: null,
  dialog: null,
  hitFilter: NO_HIT_FILTER,
  hit: null,
  hitRow: -1,
  recheckedFrom: null,
};

export const useWatch = create<WatchState>(() => ({ job: null, ...START }));

export const watchView = {
  /** Another job: nothing of what was looked at belongs to it. */
  forJob(job: string): void {
    if (useWatch.getState().job !== job) useWatch.setState({ job, ...START });
  },

  showTab(tab: Tab): void {
    useWatch.setState({ tab });
  },

  /** Ticks the nodes of a watchpoint from now on; null ends that. */
  tick(ticking: number | null): void {
    useWatch.setState(ticking === null ? { ticking } : { ticking, tab: "nodes" });
  },

  /** A new watchpoint, on what is selected where something is. */
  openNew(graph: string | null, selected: Selection | null, isThere = true): void {
    const at = graph !== null && selected !== null ? { ...selected, graph } : null;
    useWatch.setState({ dialog: { kind: "new", at, isThere } });
  },

  open(dialog: Dialog): void {
    useWatch.setState({ dialog });
  },

  close(): void {
    useWatch.setState({ dialog: null });
  },

  filterHits(change: Partial<HitFilter>): void {
    useWatch.setState((state) => ({ hitFilter: { ...state.hitFilter, ...change }, hitRow: -1 }));
  },

  /** The hits of one watchpoint. */
  showHitsOf(watchpoint: number): void {
    useWatch.setState({ tab: "hits", hitFilter: { ...NO_HIT_FILTER, watchpoint } });
  },
};
