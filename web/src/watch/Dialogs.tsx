/** The dialogs around watchpoints, which come when one is opened for the first time. */

import { lazy, Suspense } from "react";
import type { JobView } from "../api/client";
import { useEver } from "../app/useEver";
import { useWatch } from "./state";
import { useWatchpoints } from "./useWatchpoints";

const WatchDialog = lazy(() => import("./WatchDialog"));
const Questions = lazy(() => import("./Questions"));

export function WatchDialogs({ job }: { job: JobView }) {
  const dialog = useWatch((state) => state.dialog);
  const { list } = useWatchpoints(job);
  const edited = dialog?.kind === "edit" ? list?.watchpoints.find(({ id }) => id === dialog.id) : undefined;
  const wasAsked = useEver(dialog?.kind === "delete" || dialog?.kind === "clear");
  return (
    <Suspense>
      {dialog?.kind === "new" && <WatchDialog job={job} at={dialog.at} isThere={dialog.isThere} />}
      {edited && <WatchDialog key={edited.id} job={job} edited={edited} at={null} isThere={false} />}
      {wasAsked && <Questions job={job} />}
    </Suspense>
  );
}
