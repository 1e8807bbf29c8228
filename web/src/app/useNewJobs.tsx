/** From waiting to debugging without a click, and word of a training that connects while another one is looked at. */

import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useRef } from "react";
import type { JobView } from "../api/client";
import { useText } from "../i18n";
import { go } from "../state/address";
import { newestLive } from "../state/place";

export function useNewJobs(jobs: JobView[] | undefined, wanted: string | null, shown: JobView | null): void {
  const text = useText();
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!jobs) return;
    const before = known.current;
    known.current = new Set(jobs.map((job) => job.id));
    const live = jobs.filter((job) => job.connected);
    if (wanted === null) {
      const newest = newestLive(jobs);
      if (newest) go({ job: newest.id, graph: null, selected: null }, true);
      return;
    }
    for (const job of live) {
      if (!before || before.has(job.id) || job.id === wanted) continue;
      const open = () => {
        notifications.hide(job.id);
        go({ job: job.id, graph: null, selected: null });
      };
      const message = (
        <Group justify="space-between">
          <Text size="sm">{text.newJob(job.title)}</Text>
          <Button size="compact-sm" onClick={open}>{text.openIt}</Button>
        </Group>
      );
      notifications.show({ id: job.id, message, autoClose: 20_000 });
    }
  }, [jobs, wanted, shown, text]);
}
