/** The page's address: which job, graph and node it names. Pure, so that it can be read before the page is there. */

import type { JobView } from "../api/client";
import type { Selection } from "../graph/contract";

export interface Place {
  job: string | null;
  graph: string | null;
  selected: Selection | null;
}

const encode = (name: string): string => name.split("/").map(encodeURIComponent).join("/");

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const found = /^\/job\/([^/]+)(?:\/(node|scope)\/(.+))?\/?$/.exec(path);
  if (!found) return { job: null, graph: null, selected: null };
  const [, job = "", kind, name] = found;
  return {
    job: decode(job),
    graph: new URLSearchParams(query).get("graph"),
    selected: kind && name ? { kind: kind as Selection["kind"], name: decode(name) } : null,
  };
}

export function format(place: Place): string {
  if (place.job === null) return "#/";
  const selected = place.selected ? `/${place.selected.kind}/${encode(place.selected.name)}` : "";
  const graph = place.graph === null ? "" : `?graph=${encodeURIComponent(place.graph)}`;
  return `#/job/${encodeURIComponent(place.job)}${selected}${graph}`;
}

/** The training to which a page without an address of its own goes. */
export function newestLive(jobs: readonly JobView[]): JobView | undefined {
  return jobs.filter((job) => job.connected).at(-1);
}

/** The graph of the address, if the job has it; else the cursor's; else the first one. */
export function graphShown(job: JobView, wanted: string | null): string | null {
  if (wanted !== null && job.graphs.includes(wanted)) return wanted;
  return job.cursor?.graph ?? job.graphs[0] ?? null;
}
