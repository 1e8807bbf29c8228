/** The rows of the node list, for the graph and the filters as they are. */

import { useQuery } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { SCOPE_PAGE } from "../api/asks";
import { FIRST_NODES, MOST_NODES, nodesQuery, type NodesWanted } from "../api/queries";
import { useText } from "../i18n";
import { type Filter, useOpenScopes, useRevision, useView, view } from "../state/view";
import { foundRows, type Row, treeRows } from "./rows";
import { usePages } from "./usePages";

export function isFiltering(filter: Filter): boolean {
  return filter.text !== "" || filter.line !== "" || filter.category !== "all" || filter.allGraphs;
}

export interface Rows {
  rows: Row[];
  /** What was found, or null without a filter. */
  found: Schemas["NodeList"] | null;
  isBusy: boolean;
  error: Error | null;
  setOpen(row: Row, open: boolean): void;
  /** A row has come into sight: what it keeps the place of is asked for. */
  onSight(row: Row): void;
}

const nothing = () => undefined;

/** `filter` is the one that the rows belong to: the one that is typed may be ahead of them. */
export function useRows(job: string, graph: string): Rows & { filter: Filter } {
  const filter = useDeferredValue(useView((state) => state.filter));
  const tree = useTree(job, graph);
  const found = useFound(job, graph, filter);
  return { ...(isFiltering(filter) ? found : tree), filter };
}

function useTree(job: string, graph: string): Rows {
  const text = useText();
  const open = useOpenScopes(job, graph);
  const { scopes, error, want } = usePages(job, graph, open);
  const rows = useMemo(() => treeRows(graph, scopes, open, text, SCOPE_PAGE), [graph, scopes, open, text]);
  const setOpen = useCallback((row: Row, wanted: boolean) => view.setOpen(row.name, wanted), []);
  const onSight = useCallback((row: Row) => row.missing && want(row.missing.path, row.missing.offset), [want]);
  return { rows, found: null, isBusy: false, error, setOpen, onSight };
}

function useFound(job: string, graph: string, filter: Filter): Rows {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const revision = useRevision(job, graph);
  const wanted: NodesWanted = {
    graph: filter.allGraphs ? "" : graph,
    text: filter.text,
    line: filter.line,
    category: filter.category === "all" ? null : filter.category,
  };
  const isWanted = isFiltering(filter);
  const first = useQuery({ ...nodesQuery(job, revision, wanted, FIRST_NODES), enabled: isWanted });
  const hasMore = isWanted && !first.isPlaceholderData && (first.data?.total ?? 0) > FIRST_NODES;
  const most = useQuery({ ...nodesQuery(job, revision, wanted, MOST_NODES), enabled: hasMore, placeholderData: undefined });
  const found = hasMore && most.data ? most : first;
  const nodes = found.data?.nodes;
  const rows = useMemo(() => foundRows(nodes ?? [], closed, filter.allGraphs), [nodes, closed, filter.allGraphs]);
  const setOpen = useCallback((row: Row, open: boolean) => {
    setClosed((present) => {
      const next = new Set(present);
      if (open) next.delete(row.key);
      else next.add(row.key);
      return next;
    });
  }, []);
  return { rows, found: found.data ?? null, isBusy: found.isFetching, error: found.error, setOpen, onSight: nothing };
}
