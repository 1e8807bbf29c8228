/** Goes to the values that one looks for: the next NaN or Inf, the largest, the smallest; also by keys. */

import "../views.css";
import { Button, Kbd, Menu } from "@mantine/core";
import { DownIcon } from "../../app/icons";
import { useText } from "../../i18n";
import { type Jump, JUMPS, keyLabel } from "./jumps";
import { type Jumping, useJump } from "./useJump";

export function JumpMenu(props: Jumping) {
  const text = useText();
  const { note, jump } = useJump(props);
  const { partShape, fullShape, isLive } = props.shown;
  const isPart = partShape.length < fullShape.length || partShape.some((size, at) => size < fullShape[at]!);
  return (
    <span className="ss-jump">
      <Menu position="bottom-start" shadow="md" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button size="compact-xs" variant="default" disabled={!isLive} rightSection={<DownIcon size={12} />}>
            {text.views.jump}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{isPart ? text.views.jumpHere : text.views.jumpWhole}</Menu.Label>
          {JUMPS.map((what) => <Item key={what} wanted={{ what, isWhole: false }} onJump={jump} />)}
          {isPart && (
            <>
              <Menu.Label>{text.views.jumpWhole}</Menu.Label>
              {JUMPS.map((what) => <Item key={what} wanted={{ what, isWhole: true }} onJump={jump} />)}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <span className={note?.isFound ? "ss-jump-note" : "ss-jump-note ss-dimmed"} role="status" title={note?.words}>{note?.words}</span>
    </span>
  );
}

function Item({ wanted, onJump }: { wanted: Jump; onJump(wanted: Jump): void }) {
  const text = useText();
  return (
    <Menu.Item rightSection={<Kbd size="xs">{keyLabel(wanted)}</Kbd>} onClick={() => onJump(wanted)}>
      {text.views.jumps[wanted.what]}
    </Menu.Item>
  );
}
