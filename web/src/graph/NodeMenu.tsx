/** What can be done with a node: opened by a right click, by its button, and by the menu key. */

import { Menu } from "@mantine/core";
import { useText } from "../i18n";
import type { GraphCommands } from "./contract";
import { Icon } from "./icons";
import type { Box, Point } from "./scene";

export interface MenuAt extends Point {
  box: Box;
}

export interface NodeMenuProps {
  at: MenuAt | null;
  commands: GraphCommands;
  onClose(): void;
  onToggle(box: Box): void;
  onAlone(box: Box): void;
  onCentre(box: Box): void;
}

export function NodeMenu({ at, commands, onClose, onToggle, onAlone, onCentre }: NodeMenuProps) {
  const text = useText().canvas;
  const box = at?.box;
  const node = box?.node;
  const name = node?.kind === "stack" ? node.id.slice(0, -1) : (node?.id ?? "");
  return (
    <Menu
      key={`${node?.id} ${at?.x} ${at?.y}`}
      opened={at !== null}
      onChange={(opened) => !opened && onClose()}
      position="bottom-start"
      offset={2}
      shadow="md"
      returnFocus={false}
      transitionProps={{ duration: 0 }}
      withinPortal
    >
      <Menu.Target>
        <div aria-hidden="true" style={{ position: "fixed", left: at?.x ?? 0, top: at?.y ?? 0, width: 1, height: 1 }} />
      </Menu.Target>
      <Menu.Dropdown>
        {box && node && (
          <>
            <Menu.Label maw={320} style={{ overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" }}>
              {node.name}
            </Menu.Label>
            {node.kind === "node" ? (
              <Menu.Item
                leftSection={<Icon name="play" />}
                disabled={!commands.canRun}
                onClick={() => commands.runTo(node.id)}
              >
                {text.runTo}
              </Menu.Item>
            ) : (
              <>
                <Menu.Item leftSection={<Icon name={node.open ? "minus" : "plus"} />} onClick={() => onToggle(box)}>
                  {node.open ? text.close : text.open}
                </Menu.Item>
                <Menu.Item leftSection={<Icon name="collapse" />} onClick={() => onAlone(box)}>
                  {text.openAlone}
                </Menu.Item>
              </>
            )}
            {node.kind !== "stack" && (
              <Menu.Item
                leftSection={<Icon name="watch" />}
                disabled={!commands.watch}
                onClick={() => commands.watch?.({ kind: node.kind === "scope" ? "scope" : "node", name: node.id })}
              >
                {text.watchHere}
              </Menu.Item>
            )}
            <Menu.Item leftSection={<Icon name="target" />} onClick={() => onCentre(box)}>
              {text.centre}
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="copy" />} onClick={() => commands.copy(name)}>
              {text.copyName}
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="list" />} onClick={() => commands.showInList(name)}>
              {text.showInList}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
