/** Watchpoints and hits over the web API: what is asked for, and what is changed. */

import { keepPreviousData, type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { api, ApiError, type JobView, type Schemas, take } from "./client";

export type Condition = Schemas["ConditionView"];
export type ConditionParameter = Schemas["ConditionParameter"];
export type Watchpoint = Schemas["WatchpointView"];
export type WatchpointList = Schemas["WatchpointList"];
export type Hit = Schemas["HitView"];
export type HitList = Schemas["HitList"];
export type ErrorKind = Hit["error"][number];
export type Rule = Schemas["Rule"];
export type NodeFilter = Schemas["NodeFilter"];

const HEADER = { "X-Stepscope": "1" } as const;

/** All conditions in the order of the table; they never change while the server lives. */
export function useConditions(): readonly Condition[] {
  const query = useQuery({
    queryKey: ["conditions"],
    queryFn: async () => (await take(api.GET("/api/conditions"))).conditions,
    staleTime: Infinity,
  });
  return query.data ?? NONE;
}

const NONE: readonly Condition[] = [];

/** The list, asked for again when the job says that it changed, or that the hits or the graphs did. */
export function watchpointsQuery(job: JobView, graphRevision: number) {
  return queryOptions({
    queryKey: ["watchpoints", job.id, job.watchpoints, job.hits_revision, job.graphs.length, graphRevision],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/{job}/watchpoints", { params: { path: { job: job.id } }, signal })),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

/** Puts what a change was answered with into the list, before the events tell of it. */
export function putWatchpoint(client: QueryClient, job: string, watchpoint: Watchpoint): void {
  client.setQueriesData<WatchpointList>({ queryKey: ["watchpoints", job] }, (list) => {
    if (!list) return list;
    const isThere = list.watchpoints.some(({ id }) => id === watchpoint.id);
    const watchpoints = isThere
      ? list.watchpoints.map((each) => (each.id === watchpoint.id ? watchpoint : each))
      : [...list.watchpoints, watchpoint];
    return { ...list, watchpoints };
  });
}

export function putList(client: QueryClient, job: string, list: WatchpointList): void {
  client.setQueriesData<WatchpointList>({ queryKey: ["watchpoints", job] }, list);
}

export function dropWatchpoints(client: QueryClient, job: string, id?: number): void {
  client.setQueriesData<WatchpointList>({ queryKey: ["watchpoints", job] }, (list) =>
    list ? { ...list, watchpoints: id === undefined ? [] : list.watchpoints.filter((each) => each.id !== id) } : list,
  );
}

export interface Given {
  condition: string;
  parameters: Record<string, number>;
  name: string;
}

/** Which nodes: of a category (its `base`), or what is selected. */
export type Covered = { base: Schemas["CreateRequest"]["base"] } | { nodes: string[]; graph: string } | { scopes: string[]; graph: string };

export function createWatchpoint(job: string, given: Given, covered: Covered): Promise<Watchpoint> {
  const body = { graph: "", enabled: true, ...given, ...covered };
  return take(api.POST("/api/jobs/{job}/watchpoints", { params: { path: { job }, header: HEADER }, body }));
}

export function updateWatchpoint(job: string, watchpoint: number, change: Schemas["UpdateRequest"]): Promise<Watchpoint> {
  return take(
    api.PATCH("/api/jobs/{job}/watchpoints/{watchpoint}", {
      params: { path: { job, watchpoint }, header: HEADER },
      body: change,
    }),
  );
}

export function duplicateWatchpoint(job: string, watchpoint: number): Promise<Watchpoint> {
  return take(
    api.POST("/api/jobs/{job}/watchpoints/{watchpoint}/duplicate", { params: { path: { job, watchpoint }, header: HEADER } }),
  );
}

export async function deleteWatchpoint(job: string, watchpoint: number): Promise<void> {
  await take(
    api.DELETE("/api/jobs/{job}/watchpoints/{watchpoint}", { params: { path: { job, watchpoint }, header: HEADER } }),
  );
}

export async function clearWatchpoints(job: string): Promise<void> {
  await take(api.DELETE("/api/jobs/{job}/watchpoints", { params: { path: { job }, header: HEADER } }));
}

/** Ticks one by one, or all that a filter finds. */
export type Ticks = { ticks: Rule[] } | { filter: NodeFilter; on: boolean };

export function sendTicks(job: string, watchpoint: number, ticks: Ticks): Promise<Watchpoint> {
  return take(
    api.POST("/api/jobs/{job}/watchpoints/{watchpoint}/ticks", {
      params: { path: { job, watchpoint }, header: HEADER },
      body: { on: true, ...ticks },
    }),
  );
}

export function askStates(job: string, watchpoint: number, asked: Schemas["StatesRequest"], signal: AbortSignal) {
  return take(
    api.POST("/api/jobs/{job}/watchpoints/{watchpoint}/states", {
      params: { path: { job, watchpoint }, header: HEADER },
      body: asked,
      signal,
    }),
  );
}

export function answerRecommended(job: string, use: boolean): Promise<WatchpointList> {
  return take(
    api.POST("/api/jobs/{job}/watchpoints/recommended", { params: { path: { job }, header: HEADER }, body: { use } }),
  );
}

export function takeEarlier(job: string): Promise<WatchpointList> {
  return take(api.POST("/api/jobs/{job}/watchpoints/earlier", { params: { path: { job }, header: HEADER } }));
}

/** What of the hits is asked for; absent or null: all. */
export interface HitsWanted {
  watchpoint?: number | null;
  graph?: string;
  node?: string;
  pattern?: string;
  rank?: number | null;
  kind?: "hit" | "error" | null;
}

export function hitsQuery(job: JobView, wanted: HitsWanted, offset: number, limit: number) {
  const query = {
    watchpoint: wanted.watchpoint ?? undefined,
    graph: wanted.graph,
    node: wanted.node,
    pattern: wanted.pattern || undefined,
    rank: wanted.rank ?? undefined,
    kind: wanted.kind ?? undefined,
    offset,
    limit,
  };
  const what = JSON.stringify([job.id, job.hits_revision, query]);
  return queryOptions({
    queryKey: ["hits", what, job.watchpoints],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/{job}/hits", { params: { path: { job: job.id }, query }, signal })),
    staleTime: Infinity,
    gcTime: 60_000,
    // The watchpoints have changed: names may be others, the hits are the same.
    placeholderData: (present: HitList | undefined, of) => (of?.queryKey[1] === what ? present : undefined),
  });
}

/** The field and the code of a problem with what was filled in. */
export function fieldOf(error: unknown): { field: string; code: string } | null {
  return error instanceof ApiError && error.field ? { field: error.field, code: error.code ?? "" } : null;
}
