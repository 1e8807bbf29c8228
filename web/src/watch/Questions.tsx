/** Asks once before watchpoints are deleted. */

import { Button, Group, Modal, Text } from "@mantine/core";
import type { JobView } from "../api/client";
import { useConditions } from "../api/watch";
import { useLanguage, useText } from "../i18n";
import { useWatch, watchView } from "./state";
import { useWatchChanges, useWatchpoints } from "./useWatchpoints";
import { conditionText } from "./words";

export default function Questions({ job }: { job: JobView }) {
  const text = useText();
  const language = useLanguage((state) => state.language);
  const dialog = useWatch((state) => state.dialog);
  const { list } = useWatchpoints(job);
  const conditions = useConditions();
  const changes = useWatchChanges(job.id);
  const asked = dialog?.kind === "delete" || dialog?.kind === "clear" ? dialog : null;
  const one = asked?.kind === "delete" ? list?.watchpoints.find(({ id }) => id === asked.id) : undefined;
  const title = asked?.kind === "delete" ? text.watch.removeAsk(asked.id) : text.watch.clearAsk;
  const detail = one
    ? [one.name, conditionText(conditions, one, language)].filter(Boolean).join(" · ")
    : text.watch.clearWhy(list?.watchpoints.length ?? 0);
  const act = () => {
    watchView.close();
    if (asked?.kind === "delete") changes.remove(asked.id);
    else changes.clear();
  };
  return (
    <Modal
      opened={asked !== null} onClose={watchView.close} title={title} centered size="sm"
      closeButtonProps={{ "aria-label": text.close }}
    >
      <Text size="sm">{detail}</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={watchView.close}>{text.cancel}</Button>
        <Button color="red.9" onClick={act} data-autofocus>{text.watch.removeButton}</Button>
      </Group>
    </Modal>
  );
}
