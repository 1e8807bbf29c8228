/** The hits of the last check: what there is of them, the pages in sight, and what changes the page by itself. */

import { notifications } from "@mantine/notifications";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { JobView } from "../api/client";
import { type Hit, type HitList, hitsQuery, type HitsWanted } from "../api/watch";
import { useText } from "../i18n";
import { type HitFilter, useWatch, watchView } from "./state";

export const PAGE = 100;

export function wantedOf({ watchpoint, text, rank, kind }: HitFilter): HitsWanted {
  return { watchpoint, pattern: text, rank, kind };
}

/** How many hits there are, of which step and graphs; and whether they still say how things are. */
export function useHitFacts(job: JobView, wanted: HitsWanted): { facts: HitList | null; isOutdated: boolean; error: Error | null } {
  const { data, error } = useQuery({ ...hitsQuery(job, wanted, 0, 0), placeholderData: keepPreviousData });
  const facts = data ?? null;
  return { facts, isOutdated: facts !== null && facts.all > 0 && (facts.outdated || facts.step !== job.step), error };
}

/** The hits in rows `first` to `last`, by their place; what is on its way is not there. */
export function useHitPages(job: JobView, wanted: HitsWanted, first: number, last: number): (at: number) => Hit | undefined {
  const pages = useMemo(() => {
    const numbers: number[] = [];
    for (let page = Math.floor(first / PAGE); page * PAGE <= last; page++) numbers.push(page);
    return numbers;
  }, [first, last]);
  const found = useQueries({
    queries: pages.map((page) => hitsQuery(job, wanted, page * PAGE, PAGE)),
  });
  return (at) => found[pages.indexOf(Math.floor(at / PAGE))]?.data?.hits[at % PAGE];
}

/** More marks than anyone can see at once. */
const MOST_MARKED = 2000;
const NO_HITS: ReadonlyMap<string, readonly Hit[]> = new Map();
const NOBODY: ReadonlySet<string> = new Set();

export interface HitMarks {
  /** Hits of the step that is shown, by full name of the node; those that could not be evaluated among them. */
  byNode: ReadonlyMap<string, readonly Hit[]>;
  /** Nodes that were hit. */
  nodes: ReadonlySet<string>;
  /** How many nodes were hit below a scope. */
  below: ReadonlyMap<string, number>;
}

const NO_MARKS: HitMarks = { byNode: NO_HITS, nodes: NOBODY, below: new Map() };

/** What to mark in one graph: nothing once the training has gone on, since the values are others then. */
export function useHitMarks(job: JobView, graph: string | null): HitMarks {
  const isAsked = job.hits > 0 && graph !== null;
  const { data } = useQuery({ ...hitsQuery(job, { graph: graph ?? "" }, 0, MOST_MARKED), enabled: isAsked });
  const isNow = isAsked && data !== undefined && data.step === job.step;
  return useMemo(() => (isNow ? marksOf(data.hits) : NO_MARKS), [isNow, data]);
}

export function marksOf(hits: readonly Hit[]): HitMarks {
  const byNode = new Map<string, Hit[]>();
  for (const hit of hits) {
    const known = byNode.get(hit.node);
    if (known) known.push(hit);
    else byNode.set(hit.node, [hit]);
  }
  const nodes = new Set<string>();
  const below = new Map<string, number>();
  for (const [node, of] of byNode) {
    if (of.every((hit) => hit.error.length > 0)) continue;
    nodes.add(node);
    for (let slash = node.indexOf("/"); slash >= 0; slash = node.indexOf("/", slash + 1)) {
      const scope = node.slice(0, slash);
      below.set(scope, (below.get(scope) ?? 0) + 1);
    }
  }
  return { byNode, nodes, below };
}

/** Brings the list of hits to the front when the training pauses at new ones, and when a check that was asked for finds some. */
export function useNewHits(job: JobView): void {
  const text = useText().watch;
  const recheckedFrom = useWatch((state) => state.recheckedFrom);
  const shown = useRef({ job: "", revision: 0 });
  if (shown.current.job !== job.id) shown.current = { job: job.id, revision: 0 };
  const { id, hits, hits_revision: revision, state, reason, step } = job;
  useEffect(() => watchView.forJob(id), [id]);
  useEffect(() => {
    if (recheckedFrom === null || revision <= recheckedFrom) return;
    useWatch.setState({ recheckedFrom: null });
    shown.current.revision = revision;
    if (hits > 0) watchView.showTab("hits");
    else notifications.show({ id: "recheck", message: text.rechecked(step) });
  }, [recheckedFrom, revision, hits, step, text]);
  useEffect(() => {
    if (hits === 0 || state !== "paused" || reason !== "watchpoint" || revision <= shown.current.revision) return;
    shown.current.revision = revision;
    watchView.showTab("hits");
  }, [id, hits, state, reason, revision]);
}
