/** Asks once before a training is ended. */

import { Button, Group, Modal, Text } from "@mantine/core";
import { useText } from "../i18n";
import { useActions } from "./actions";

export default function TerminateDialog() {
  const text = useText();
  const { asking, closeDialogs, terminate } = useActions();
  return (
    <Modal opened={asking} onClose={closeDialogs} title={text.terminateAsk} centered size="sm" closeButtonProps={{ "aria-label": text.close }}>
      <Text size="sm">{text.terminateWhy}</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={closeDialogs}>{text.cancel}</Button>
        <Button color="red.9" onClick={terminate} data-autofocus>{text.terminate}</Button>
      </Group>
    </Modal>
  );
}
