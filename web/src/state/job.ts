/** What the page knows of the job that it shows: the commands that are possible, and the pause whose values are meant. */

import { useRef } from "react";
import type { JobView } from "../api/client";

export function hasEnded(job: JobView): boolean {
  return job.state === "finished" || job.state === "lost";
}

/** Whether a terminate is on its way. */
export function isTerminating(job: JobView): boolean {
  return job.state === "running" && job.reason === "terminate";
}

/**
 * A name for the pause whose values are shown: values read at one pause are right until the next one. While the
 * training runs it is the one before, so that the page keeps showing what it has.
 */
export function useMoment(job: JobView): { moment: string; isLive: boolean } {
  const kept = useRef({ job: "", moment: "" });
  if (kept.current.job !== job.id) kept.current = { job: job.id, moment: "" };
  if (job.state === "paused") kept.current.moment = `${job.step}:${job.cursor?.position ?? ""}`;
  return { moment: kept.current.moment, isLive: job.state === "paused" && job.connected };
}
