/** The keys, out of the same table that they work by. */

import { Anchor, Group, Kbd, Modal, Table, Text } from "@mantine/core";
import { useServer } from "../api/queries";
import { useText } from "../i18n";
import { JUMPS, keyLabel } from "../tensor/jump/jumps";
import { ACTIONS, KEYS } from "./keys";
import { useActions } from "./actions";

export default function HelpDialog() {
  const text = useText();
  const server = useServer().data;
  const { helping, closeDialogs } = useActions();
  return (
    <Modal opened={helping} onClose={closeDialogs} title={text.help} centered size="md" closeButtonProps={{ "aria-label": text.close }}>
      <Text size="sm" mb="xs">{text.keysIntro}</Text>
      <Table withRowBorders={false} verticalSpacing={4} aria-label={text.keys}>
        <Table.Tbody>
          {ACTIONS.filter((action) => KEYS[action].key).map((action) => (
            <Table.Tr key={action}>
              <Table.Td><Keys of={KEYS[action].key} /></Table.Td>
              <Table.Td>{KEYS[action].label(text)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" mt="xs">{text.helpTree}</Text>
      <Text size="sm" mt="xs" mb={4}>{text.views.helpJumps}</Text>
      <Table withRowBorders={false} verticalSpacing={4} aria-label={text.views.jump}>
        <Table.Tbody>
          {JUMPS.map((what) => (
            <Table.Tr key={what}>
              <Table.Td><Keys of={keyLabel({ what, isWhole: false })} /></Table.Td>
              <Table.Td>{text.views.jumps[what]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group justify="space-between" mt="md">
        <Text size="xs" c="dimmed">{server && text.version(server.version)}</Text>
        <Anchor size="xs" href="/api/openapi.json" target="_blank">{text.apiLink}</Anchor>
      </Group>
    </Modal>
  );
}

function Keys({ of }: { of: string }) {
  return (
    <Group gap={4}>
      {of.split("+").map((key) => (
        <Kbd key={key} size="sm">{key}</Kbd>
      ))}
    </Group>
  );
}
