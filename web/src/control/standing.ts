/** On which side of a node a live training shall stand: the choice of the control panel, for as long as the page is open. */

import { create } from "zustand";
import type { JobView } from "../api/client";

export type Side = "before" | "after";

export const useStanding = create<{ side: Side }>(() => ({ side: "after" }));

/** What a command that stops at a node says of it; a recorded step can only be looked at after a node. */
export function sideOf(job: JobView | null): { before?: boolean } {
  return job?.stepping === "live" && useStanding.getState().side === "before" ? { before: true } : {};
}
