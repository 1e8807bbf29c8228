/**
 * Tick mode: which rows of the node list the watchpoint covers, and how to change that.
 *
 * States are asked for as rows come into sight, kept by watchpoint and graphs, and foretold on a click. While ticks are
 * on their way, what the server says of states is overtaken already; it is asked again when the last one is answered.
 */

import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { JobView, Schemas } from "../api/client";
import { askStates, type NodeFilter, putWatchpoint, type Rule, sendTicks, type Ticks } from "../api/watch";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { type Filter, useRevision } from "../state/view";
import type { Row } from "../tree/rows";
import { isFiltering } from "../tree/useRows";
import { Sender } from "../state/sender";
import { useWatch } from "./state";
import { foundScopes, isTickable, keyOf, type Mark, rowKey, tickedInFound, tickedInTree } from "./ticks";

/** Names in one question. */
const BLOCK = 1000;
/** Rows around those in sight that are asked for with them. */
const AROUND = 60;

export interface RowTicks {
  watchpoint: number;
  /** Undefined while it is not known. */
  markOf(row: Row): Mark | undefined;
  tick(at: number): void;
  tickAll(on: boolean): void;
  /** Tells which rows are in sight. */
  see(first: number, last: number): void;
}

interface Options {
  job: JobView;
  graph: string;
  rows: readonly Row[];
  found: Schemas["NodeList"] | null;
  /** What the rows were filtered by. */
  filter: Filter;
}

export function useTicks({ job, graph, rows, found, filter }: Options): RowTicks | null {
  const watchpoint = useWatch((state) => state.ticking);
  const revision = useRevision(job.id, graph);
  const [marks, setMarks] = useState<ReadonlyMap<string, Mark>>(new Map());
  const [sight, setSight] = useState({ first: 0, last: 40 });
  const [answered, setAnswered] = useState(0);
  const sender = useSender(job.id, watchpoint, () => setAnswered((count) => count + 1));
  const fresh = useRef(new Set<string>()); // keys whose marks are those of now

  // With another watchpoint, or a graph anew, no mark is known; after changes they are shown until the new ones are there.
  const of = `${job.id} ${watchpoint} ${revision}`;
  useEffect(() => {
    fresh.current = new Set();
    setMarks(new Map());
  }, [of]);
  useEffect(() => {
    fresh.current = new Set();
  }, [job.watchpoints, answered]);

  const nodes = found?.nodes;
  useEffect(() => {
    if (watchpoint === null || sender.isBusy) return;
    const stop = new AbortController();
    const seen = nodes
      ? nodes.map((node) => ({ graph: node.graph, path: node.name, scope: false }))
      : rows
          .slice(Math.max(0, sight.first - AROUND), sight.last + AROUND)
          .filter(isTickable)
          .map((row) => ({ graph: row.graph, path: row.name, scope: row.kind === "scope" }));
    const missing = seen.filter(({ graph: name, path, scope }) => !fresh.current.has(keyOf(name, path, scope)));
    void ask(job.id, watchpoint, missing, stop.signal, (found) => {
      if (sender.isBusy) return;
      for (const key of found.keys()) fresh.current.add(key);
      setMarks((present) => new Map([...present, ...found]));
    });
    return () => stop.abort();
  }, [job.id, job.watchpoints, watchpoint, rows, nodes, sight, answered, sender, of]);

  const scopes = useMemo(() => (nodes ? foundScopes(marks, nodes) : null), [marks, nodes]);
  const markOf = useCallback(
    (row: Row): Mark | undefined => (isTickable(row) ? (scopes?.get(rowKey(row)) ?? marks.get(rowKey(row))) : -1),
    [marks, scopes],
  );

  const tick = useCallback(
    (at: number) => {
      const row = rows[at];
      const mark = row && markOf(row);
      if (!row || mark === -1 || mark === undefined) return;
      const on = mark !== 1;
      fresh.current = new Set();
      setMarks((present) => (nodes ? tickedInFound(present, nodes, row, on) : tickedInTree(present, rows, at, on)));
      const isGroup = row.kind === "scope" || row.kind === "graph";
      if (nodes && isGroup) sender.put({ filter: filterOf(filter, row.graph, row.name), on });
      else sender.put({ ticks: [{ path: row.name, scope: row.kind === "scope", graph: row.graph, on }] });
    },
    [rows, nodes, markOf, sender, filter],
  );
  const tickAll = useCallback(
    (on: boolean) => {
      fresh.current = new Set();
      setMarks((present) => {
        if (nodes) return tickedInFound(present, nodes, null, on);
        return new Map([...present].map(([key, mark]) => [key, mark === -1 ? mark : on ? 1 : 0]));
      });
      sender.put({ filter: filterOf(filter, isFiltering(filter) && filter.allGraphs ? "" : graph), on });
    },
    [nodes, sender, filter, graph],
  );
  const see = useCallback((first: number, last: number) => {
    setSight((present) => (present.first === first && present.last === last ? present : { first, last }));
  }, []);

  return useMemo(
    () => (watchpoint === null ? null : { watchpoint, markOf, tick, tickAll, see }),
    [watchpoint, markOf, tick, tickAll, see],
  );
}

function filterOf(filter: Filter, graph: string, scope?: string): NodeFilter {
  return {
    graph,
    pattern: filter.text || undefined,
    category: filter.category === "all" ? undefined : filter.category,
    line: filter.line || undefined,
    scope: scope || undefined,
  };
}

async function ask(
  job: string,
  watchpoint: number,
  missing: readonly { graph: string; path: string; scope: boolean }[],
  signal: AbortSignal,
  put: (marks: Map<string, Mark>) => void,
): Promise<void> {
  try {
    for (const graph of new Set(missing.map((each) => each.graph))) {
      const here = missing.filter((each) => each.graph === graph);
      for (let from = 0; from < here.length; from += BLOCK) {
        const block = here.slice(from, from + BLOCK);
        const [scopes, nodes] = [true, false].map((scope) => block.filter((each) => each.scope === scope).map(({ path }) => path));
        const states = await askStates(job, watchpoint, { graph, scopes: scopes!, nodes: nodes! }, signal);
        if (signal.aborted) return;
        const marks = new Map<string, Mark>();
        scopes!.forEach((path, at) => marks.set(keyOf(graph, path, true), states.scopes[at] as Mark));
        nodes!.forEach((path, at) => marks.set(keyOf(graph, path, false), states.nodes[at] as Mark));
        put(marks);
      }
    }
  } catch {
    // The watchpoint is gone, or the server is: both are told of elsewhere.
  }
}

/** Sends ticks one after the other; the list shows how many nodes are covered as soon as that is known. */
function useSender(job: string, watchpoint: number | null, settled: () => void): Sender<Ticks> {
  const client = useQueryClient();
  const text = useText();
  const latest = useRef({ text, settled });
  latest.current = { text, settled };
  return useMemo(
    () =>
      new Sender<Ticks>(
        async (changes) => {
          if (watchpoint === null) return;
          const rules: Rule[] = changes.flatMap((change) => ("ticks" in change ? change.ticks : []));
          try {
            const first = changes[0];
            const changed = await sendTicks(job, watchpoint, first && "filter" in first ? first : { ticks: rules });
            putWatchpoint(client, job, changed);
          } catch (error) {
            const { text } = latest.current;
            notifications.show({ id: "ticks", color: "red", title: text.watch.tickFailed, message: errorText(error as Error, text) });
            throw error;
          }
        },
        (waiting) => {
          const filter = waiting.findIndex((change) => "filter" in change);
          return filter < 0 ? waiting.length : Math.max(1, filter);
        },
        () => latest.current.settled(),
      ),
    [client, job, watchpoint],
  );
}
