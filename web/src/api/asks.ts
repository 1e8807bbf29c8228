/** The requests that the page begins with, in one place, so that `start.ts` asks for the same as the page a moment later. */

import { api } from "./client";

/** `fetch` is another one than the page's, where the answer is to be kept for later. */
export type How = {
  signal?: AbortSignal;
  fetch?: (request: Request) => Promise<Response>;
};

/** Children of a scope that are asked for at once: a few times what a list shows. */
export const SCOPE_PAGE = 100;

export function jobs(how: How = {}) {
  return api.GET("/api/jobs", how);
}

export function graphs(job: string, how: How = {}) {
  return api.GET("/api/jobs/{job}/graphs", { params: { path: { job } }, ...how });
}

/** A page of what is directly inside a scope; `around` is a name below it, for the page where that is found. */
export function scope(job: string, graph: string, path: string, place: { offset?: number; around?: string }, how: How = {}) {
  const params = { path: { job, graph }, query: { path, limit: SCOPE_PAGE, ...place } };
  return api.GET("/api/jobs/{job}/graphs/{graph}/scope", { params, ...how });
}

/** The graph with these scopes and stacks opened, and these pages turned. */
export function view(job: string, graph: string, open: string[], at: string[], how: How = {}) {
  const params = { path: { job, graph }, query: { open, at } };
  return api.GET("/api/jobs/{job}/graphs/{graph}/view", { params, ...how });
}

export function reveal(job: string, graph: string, name: string, how: How = {}) {
  return api.GET("/api/jobs/{job}/graphs/{graph}/reveal", { params: { path: { job, graph }, query: { name } }, ...how });
}

export function node(job: string, graph: string, name: string, how: How = {}) {
  return api.GET("/api/jobs/{job}/node", { params: { path: { job }, query: { name, graph } }, ...how });
}
