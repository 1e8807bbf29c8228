/** What the page asks the server for, as TanStack Query's options: one place for keys, so that nothing is asked twice. */

import { keepPreviousData, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { JOBS } from "../state/events";
import * as asks from "./asks";
import { api, ApiError, type Category, type JobView, type NodeView, type Schemas, take } from "./client";

/** Errors that come again when asked again are not asked again. */
export function mayRetry(count: number, error: Error): boolean {
  return error instanceof ApiError && error.kind === "unreachable" && count < 3;
}

export function useServer() {
  return useQuery({
    queryKey: ["server"],
    queryFn: () => take(api.GET("/api/server")),
    staleTime: Infinity,
  });
}

/** All jobs, oldest first; kept up to date by the events. */
export function useJobs() {
  const client = useQueryClient();
  return useQuery({
    queryKey: JOBS,
    queryFn: async (): Promise<JobView[]> => {
      const { jobs } = await take(asks.jobs());
      const present = new Map((client.getQueryData<JobView[]>(JOBS) ?? []).map((job) => [job.id, job]));
      return jobs.map((job) => {
        const known = present.get(job.id);
        return known && known.revision > job.revision ? known : job;
      });
    },
    staleTime: Infinity,
  });
}

export function graphsQuery(job: string) {
  return queryOptions({
    queryKey: ["graphs", job],
    queryFn: async () => (await take(asks.graphs(job))).graphs,
    staleTime: Infinity,
  });
}

/** The children of a scope from `offset` on, a page of them. */
export function scopeQuery(job: string, graph: string, revision: number, path: string, offset = 0) {
  const place = offset > 0 ? { offset } : {};
  return queryOptions({
    queryKey: ["scope", job, graph, revision, path, offset],
    queryFn: ({ signal }) => take(asks.scope(job, graph, path, place, { signal })),
    staleTime: Infinity,
  });
}

export function nodeQuery(job: string, graph: string, revision: number, name: string) {
  return queryOptions({
    queryKey: ["node", job, graph, revision, name],
    queryFn: ({ signal }) => take(asks.node(job, graph, name, { signal })),
    staleTime: Infinity,
  });
}

/** The same with the attributes that it has at a pause; while they come, with those of the pause before. */
export function nodeNowQuery(job: JobView, graph: string, revision: number, name: string, moment: string) {
  const query = nodeQuery(job.id, graph, revision, name);
  if (job.stepping !== "live") return query; // its attributes are constants
  return queryOptions({
    ...query,
    queryKey: [...query.queryKey, moment],
    placeholderData: (known: NodeView | undefined, of) =>
      of?.queryKey[1] === job.id && known?.graph === graph && known.name === name ? known : undefined,
    gcTime: 60_000,
  });
}

/** The stack in which a live training stands at a pause. */
export function framesQuery(job: string, moment: string) {
  return queryOptions({
    queryKey: ["frames", job, moment],
    queryFn: ({ signal }) => take(api.GET("/api/jobs/{job}/frames", { params: { path: { job } }, signal })),
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export interface NodesWanted {
  /** "" for all graphs. */
  graph: string;
  text: string;
  line: string;
  category: Category | null;
}

/** So few that they come, and are shown, as one types; and more than anyone looks through. */
export const FIRST_NODES = 200;
export const MOST_NODES = 2000;

export function nodesQuery(job: string, revision: number, wanted: NodesWanted, limit: number) {
  return queryOptions({
    queryKey: ["nodes", job, revision, wanted, limit],
    queryFn: ({ signal }) =>
      take(
        api.GET("/api/jobs/{job}/nodes", {
          params: {
            path: { job },
            query: {
              graph: wanted.graph,
              pattern: wanted.text || undefined,
              line: wanted.line || undefined,
              category: wanted.category ?? undefined,
              limit,
            },
          },
          signal,
        }),
      ),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

/** One tensor of a job. `moment` names the pause whose values are meant: see `state/moment.ts`. */
export interface TensorPlace {
  job: string;
  graph: string;
  node: string;
  slot: number;
  input?: number;
}

/** What names a tensor in a request. */
export function placeParameters(place: TensorPlace) {
  const input = place.input === undefined ? {} : { input: place.input };
  return { node: place.node, graph: place.graph, slot: place.slot, ...input };
}

function keyParameters(place: TensorPlace, when: "current" | "previous") {
  return { ...placeParameters(place), when };
}

export function compareQuery(place: TensorPlace, moment: string) {
  return queryOptions({
    queryKey: ["compare", place, moment],
    queryFn: ({ signal }): Promise<Schemas["ComparisonView"]> =>
      take(
        api.GET("/api/jobs/{job}/compare", {
          params: { path: { job: place.job }, query: keyParameters(place, "current") },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export function statsQuery(place: TensorPlace, moment: string, when: "current" | "previous" = "current") {
  return queryOptions({
    queryKey: ["stats", place, moment, when],
    queryFn: ({ signal }): Promise<Schemas["Statistics"]> =>
      take(
        api.GET("/api/jobs/{job}/stats", {
          params: { path: { job: place.job }, query: keyParameters(place, when) },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export function tensorAddress(place: TensorPlace, when: "current" | "previous", index: string): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(keyParameters(place, when))) query.set(name, String(value));
  if (index) query.set("index", index);
  return `/api/jobs/${encodeURIComponent(place.job)}/tensor?${query}`;
}
