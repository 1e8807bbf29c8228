/** A button of the table of actions: label, key and whether it is possible come from there. */

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { useActions } from "./actions";
import { type Action, ariaKeys, KEYS } from "./keys";

interface Props {
  action: Action;
  icon: ReactNode;
  color?: string;
  hint?: string;
}

export function ActionButton({ action, icon, color, hint }: Props) {
  const text = useText();
  const actions = useActions();
  const row = KEYS[action];
  const label = row.label(text);
  const tip = [row.key ? `${label} (${row.key})` : label, hint].filter(Boolean).join(" · ");
  return (
    <Tooltip label={tip}>
      <Button
        size="xs"
        variant="default"
        color={color}
        px={8}
        className="ss-action"
        leftSection={icon}
        aria-keyshortcuts={ariaKeys(action)}
        disabled={!actions.possible(action)}
        onClick={() => actions.do(action)}
      >
        {label}
      </Button>
    </Tooltip>
  );
}
