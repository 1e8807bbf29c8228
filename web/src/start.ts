/**
 * The first of the page: begins what takes time while the page's own code is still coming. The layout worker starts, the
 * events are listened to, and what the address needs is asked for. Small, and without the libraries.
 */

import { fetchAhead, listenAhead } from "./api/ahead";
import * as asks from "./api/asks";
import type { JobView } from "./api/client";
import { scopesAbove } from "./graph/contract";
import { startLayouter } from "./graph/layouter";
import { graphShown, newestLive, parse } from "./state/place";

const how = { fetch: fetchAhead };

const place = parse(location.hash);

async function ask(): Promise<void> {
  await listenAhead();
  const { data } = await asks.jobs(how);
  const jobs: JobView[] = data?.jobs ?? [];
  const job = place.job === null ? newestLive(jobs) : jobs.find((each) => each.id === place.job);
  const graph = job && graphShown(job, place.graph);
  if (!graph) return;
  const name = place.selected?.name;
  const open = name === undefined ? [] : scopesAbove(name);
  void asks.view(job.id, graph, open, [], how);
  if (name !== undefined) void asks.reveal(job.id, graph, name, how);
  for (const path of ["", ...open]) void asks.scope(job.id, graph, path, {}, how);
  const node = place.tensor?.node ?? (place.selected?.kind === "node" ? name : undefined);
  if (node !== undefined) void asks.node(job.id, place.tensor ? (place.graph ?? "") : graph, node, how);
  void asks.graphs(job.id, how);
}

startLayouter();
ask().catch(() => undefined); // the page asks again, and says what is wrong
void import("./main");
