/** The page's address: which job, graph, node or tensor it names. Pure, so that it can be read before the page is there. */

import type { JobView } from "../api/client";
import type { Selection } from "../graph/contract";

/** A tensor of a node of the graph: an output, or what the node read as its input number `input`. */
export interface TensorName {
  node: string;
  slot: number;
  input?: number;
}

export interface Place {
  job: string | null;
  graph: string | null;
  selected: Selection | null;
  /** The tensor that is looked at, over all else. */
  tensor?: TensorName;
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
  const found = /^\/job\/([^/]+)(?:\/(node|scope|tensor)\/(.+))?\/?$/.exec(path);
  if (!found) return { job: null, graph: null, selected: null };
  const [, job = "", kind, name] = found;
  const parameters = new URLSearchParams(query);
  const place: Place = { job: decode(job), graph: parameters.get("graph"), selected: null };
  if (kind === "tensor") return { ...place, tensor: tensorOf(name ?? "", parameters.get("input")) };
  return kind && name ? { ...place, selected: { kind: kind as Selection["kind"], name: decode(name) } } : place;
}

function tensorOf(path: string, input: string | null): TensorName {
  const [, node = path, slot = "0"] = /^(.+)\/(\d{1,9})$/.exec(path) ?? [];
  const name = { node: decode(node), slot: Number(slot) };
  return input !== null && /^\d{1,9}$/.test(input) ? { ...name, input: Number(input) } : name;
}

export function format(place: Place): string {
  if (place.job === null) return "#/";
  const { selected, tensor } = place;
  const query: string[] = [];
  if (place.graph !== null) query.push(`graph=${encodeURIComponent(place.graph)}`);
  if (tensor?.input !== undefined) query.push(`input=${tensor.input}`);
  const at = tensor
    ? `/tensor/${encode(tensor.node)}/${tensor.slot}`
    : selected
      ? `/${selected.kind}/${encode(selected.name)}`
      : "";
  return `#/job/${encodeURIComponent(place.job)}${at}${query.length > 0 ? `?${query.join("&")}` : ""}`;
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
