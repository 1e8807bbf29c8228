/** The button that closes a panel, from its corner; or opens it again, from the border where it was. */

import { ActionIcon } from "@mantine/core";
import type { ReactNode } from "react";
import { Tooltip } from "./Tooltip";

interface Props {
  label: string;
  icon: ReactNode;
  isOpen?: boolean;
  /** At which border it waits while its panel is closed. */
  handle?: "left" | "bottom";
  onClick(): void;
}

export function Toggle({ label, icon, isOpen = false, handle, onClick }: Props) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        className={handle ? `ss-handle-${handle}` : "ss-hide"} variant={handle ? "default" : "subtle"} size="sm"
        aria-expanded={isOpen} aria-label={label} onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
