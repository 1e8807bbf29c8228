/**
 * What this page looks at: which job and graph, what is selected, which scopes are open.
 *
 * The address (`#/job/…`) is the truth for job, graph and selection, kept in step by `state/address.ts`. Open scopes are
 * kept per job and graph, so that coming back finds them as they were left.
 */

import { create } from "zustand";
import { type Reveal, scopesAbove, type Selection } from "../graph/contract";
import type { TensorName } from "./place";

const NONE: ReadonlySet<string> = new Set();

interface ViewState {
  job: string | null;
  graph: string | null;
  selected: Selection | null;
  /** The tensor whose view lies over the rest, which stays as it was; `graph` is null where any that has it is meant. */
  tensor: (TensorName & { graph: string | null }) | null;
  reveal: Reveal | null;
  /** By job and graph: see `keyOf`. */
  open: Record<string, ReadonlySet<string>>;
  /** Rises when the server got a graph anew, by job and graph. */
  revisions: Record<string, number>;
  /** Text of the list's filters. */
  filter: Filter;
  /** A wish to have the focus on a row of the node list. */
  inList: Reveal | null;
  /** Rises when the field for names shall take the focus. */
  focusSearch: number;
}

export type CategoryFilter = "all" | "weight" | "gradient" | "activation";

export interface Filter {
  text: string;
  line: string;
  category: CategoryFilter;
  /** Look in all graphs of the job, not only in the one that is shown. */
  allGraphs: boolean;
}

export const NO_FILTER: Filter = { text: "", line: "", category: "all", allGraphs: false };

export const useView = create<ViewState>(() => ({
  job: null,
  graph: null,
  selected: null,
  tensor: null,
  reveal: null,
  open: {},
  revisions: {},
  filter: NO_FILTER,
  inList: null,
  focusSearch: 0,
}));

export function keyOf(job: string | null, graph: string | null): string {
  return `${job ?? ""}\n${graph ?? ""}`;
}

export function useOpenScopes(job: string, graph: string): ReadonlySet<string> {
  return useView((state) => state.open[keyOf(job, graph)] ?? NONE);
}

export function useRevision(job: string, graph: string): number {
  return useView((state) => state.revisions[keyOf(job, graph)] ?? 0);
}

let serial = 0;

function openWith(state: ViewState, change: (open: Set<string>) => void): Pick<ViewState, "open"> {
  const key = keyOf(state.job, state.graph);
  const open = new Set(state.open[key]);
  change(open);
  return { open: { ...state.open, [key]: open } };
}

export const view = {
  /** What the address says; a change of job drops what belonged to the old one. */
  show(job: string | null, graph: string | null, selected: Selection | null): void {
    useView.setState((state) => {
      const same = job === state.job && graph === state.graph;
      const isNew = selected !== null && (!same || selected.name !== state.selected?.name);
      const next = {
        ...state,
        job,
        graph,
        selected,
        tensor: null,
        filter: job === state.job ? state.filter : NO_FILTER,
        reveal: isNew ? { name: selected.name, serial: ++serial } : same ? state.reveal : null,
      };
      if (!isNew) return next;
      return { ...next, ...openWith(next, (open) => scopesAbove(selected.name).forEach((path) => open.add(path))) };
    });
  },

  /** Select without moving the picture: what was clicked is in sight already. */
  select(selected: Selection | null): void {
    useView.setState({ selected, tensor: null });
  },

  /** Lays a tensor's view over the rest. Of another job there is no rest yet: it begins at that graph. */
  showTensor(job: string, graph: string | null, tensor: TensorName): void {
    if (job !== useView.getState().job) view.show(job, graph, null);
    useView.setState({ tensor: { ...tensor, graph } });
  },

  /** Select, open what is above, and bring it into the picture. */
  reveal(selected: Selection): void {
    useView.setState((state) => ({
      selected,
      tensor: null,
      reveal: { name: selected.name, serial: ++serial },
      ...openWith(state, (open) => scopesAbove(selected.name).forEach((path) => open.add(path))),
    }));
  },

  setOpen(path: string, open: boolean): void {
    useView.setState((state) => openWith(state, (paths) => (open ? paths.add(path) : paths.delete(path))));
  },

  setAllOpen(paths: Iterable<string>): void {
    useView.setState((state) => ({ open: { ...state.open, [keyOf(state.job, state.graph)]: new Set(paths) } }));
  },

  /** A graph came anew: all that was asked of it is stale. */
  graphChanged(job: string, graph: string): void {
    useView.setState((state) => {
      const key = keyOf(job, graph);
      return { revisions: { ...state.revisions, [key]: (state.revisions[key] ?? 0) + 1 } };
    });
  },

  filter(change: Partial<Filter>): void {
    useView.setState((state) => ({ filter: { ...state.filter, ...change } }));
  },

  /** Drops the filters, opens what is above, and gives the node list the focus there. */
  showInList(name: string): void {
    useView.setState((state) => ({
      filter: NO_FILTER,
      inList: { name, serial: ++serial },
      ...openWith(state, (open) => scopesAbove(name).forEach((path) => open.add(path))),
    }));
  },

  focusSearch(): void {
    useView.setState((state) => ({ focusSearch: state.focusSearch + 1 }));
  },
};
