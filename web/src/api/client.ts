/** The web API: typed requests, and errors as one class that carries the server's own line. */

import createClient from "openapi-fetch";
import { fetchOrTake } from "./ahead";
import type { components, paths } from "./types";

export type Schemas = components["schemas"];
export type JobView = Schemas["JobView"];
export type NodeView = Schemas["NodeView"];
export type NodeRow = Schemas["NodeRow"];
export type GraphSummary = Schemas["GraphSummary"];
export type Statistics = Schemas["Statistics"];
export type Category = Schemas["NodeRow"]["categories"][number];
export type Event = Schemas["Event"];
export type Command = Schemas["CommandRequest"];
/** A number as the server sends it: what JSON does not have is a string. */
export type Real = number | "nan" | "inf" | "-inf";

/** What a change must carry: a page of someone else can't send it. */
const MEANT = { "X-Stepscope": "1" } as const;

export const api = createClient<paths>({ baseUrl: "/", headers: MEANT, fetch: fetchOrTake });

export class ApiError extends Error {
  constructor(
    message: string,
    readonly kind: string,
    readonly status: number,
    readonly nearest: readonly string[] = [],
    /** The part of the request that is wrong, and how. */
    readonly field: string | null = null,
    readonly code: string | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** The data of an answer; throws ApiError for everything else. */
export async function take<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let got;
  try {
    got = await answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("", "unreachable", 0);
  }
  if (got.error === undefined && got.response.ok) return got.data as T;
  throw fromProblem(got.error, got.response.status);
}

export function fromProblem(body: unknown, status: number): ApiError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as Partial<Schemas["Problem"]>;
  const { detail = "", kind = "internal", nearest = [], field = null, code = null } = problem;
  return new ApiError(detail, kind, status, nearest, field, code);
}

/** Sends a command; the answer has the state that follows. */
export function sendCommand(job: string, command: Partial<Command> & Pick<Command, "kind">): Promise<JobView> {
  const body = { steps: 1, graph: "", node: "", before: false, ...command };
  return take(
    api.POST("/api/jobs/{job}/commands", { params: { path: { job }, header: { "X-Stepscope": "1" } }, body }),
  );
}
