/** The watchpoints of a job, and all that changes them: what fails is told in a notification. */

import { notifications } from "@mantine/notifications";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { JobView } from "../api/client";
import {
  answerRecommended, clearWatchpoints, deleteWatchpoint, dropWatchpoints, duplicateWatchpoint, putList, putWatchpoint,
  takeEarlier, updateWatchpoint, type WatchpointList, watchpointsQuery,
} from "../api/watch"; // prettier-ignore
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { useView } from "../state/view";
import { watchView } from "./state";

export function useWatchpoints(job: JobView): { list: WatchpointList | null; error: Error | null } {
  // Any graph of the job: each may have nodes that a watchpoint covers.
  const graphs = useView((state) =>
    Object.entries(state.revisions).reduce((sum, [key, revision]) => sum + (key.startsWith(`${job.id}\n`) ? revision : 0), 0),
  );
  const { data, error } = useQuery(watchpointsQuery(job, graphs));
  return { list: data ?? null, error };
}

export interface WatchChanges {
  enable(id: number, enabled: boolean): void;
  duplicate(id: number): void;
  remove(id: number): void;
  clear(): void;
  recommended(use: boolean): void;
  earlier(): void;
}

export function useWatchChanges(job: string): WatchChanges {
  const client = useQueryClient();
  const text = useText();
  return useMemo(() => {
    const guard = <T,>(work: Promise<T>, then: (result: T) => void) => {
      work.then(then).catch((error: Error) => {
        notifications.show({ id: "watch", color: "red", title: text.watch.failed, message: errorText(error, text) });
        void client.invalidateQueries({ queryKey: ["watchpoints", job] });
      });
    };
    return {
      enable(id, enabled) {
        client.setQueriesData<WatchpointList>({ queryKey: ["watchpoints", job] }, (list) =>
          list ? { ...list, watchpoints: list.watchpoints.map((each) => (each.id === id ? { ...each, enabled } : each)) } : list,
        );
        guard(updateWatchpoint(job, id, { enabled }), (changed) => putWatchpoint(client, job, changed));
      },
      duplicate: (id) =>
        guard(duplicateWatchpoint(job, id), (made) => {
          putWatchpoint(client, job, made);
          watchView.tick(made.id);
        }),
      remove: (id) => guard(deleteWatchpoint(job, id), () => dropWatchpoints(client, job, id)),
      clear: () => guard(clearWatchpoints(job), () => dropWatchpoints(client, job)),
      recommended: (use) => guard(answerRecommended(job, use), (list) => putList(client, job, list)),
      // Whoever takes those has answered the offer.
      earlier: () => guard(takeEarlier(job).then(() => answerRecommended(job, false)), (list) => putList(client, job, list)),
    };
  }, [client, job, text]);
}
