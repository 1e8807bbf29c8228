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

function momentOf({ step, cursor }: JobView): string {
  if (!cursor) return `${step}:`;
  return `${step}:${cursor.position}${cursor.moment === "before" ? "-" : ""}`;
}

/**
 * A name for the pause whose values are shown: values read at one pause are right until the next one. While the
 * training runs it is the one before, so that the page keeps showing what it has.
 */
export function useMoment(job: JobView): { moment: string; isLive: boolean } {
  const kept = useRef({ job: "", moment: "" });
  if (kept.current.job !== job.id) kept.current = { job: job.id, moment: "" };
  if (job.state === "paused") kept.current.moment = momentOf(job);
  return { moment: kept.current.moment, isLive: job.state === "paused" && job.connected };
}
