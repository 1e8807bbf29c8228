/** Copying: a button beside a text, and a line of a terminal with one. */

import { ActionIcon } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import { dictionaries, useLanguage, useText } from "../i18n";
import { CheckIcon, CopyIcon } from "./icons";
import { Tooltip } from "./Tooltip";

/** Puts text on the clipboard; says so only where that fails. */
export async function copy(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    return copyByHand(value);
  }
}

/** The way of pages that are not on localhost and have no https. */
function copyByHand(value: string): boolean {
  const field = document.createElement("textarea");
  field.value = value;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  const text = dictionaries[useLanguage.getState().language];
  if (!done) notifications.show({ id: "copy", color: "red", message: text.copyFailed });
  return done;
}

export function CopyButton({ value, label }: { value: string; label?: string }) {
  const text = useText();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const title = done ? text.copied : (label ?? text.copy);
  return (
    <Tooltip label={title}>
      <ActionIcon size="sm" aria-label={title} onClick={() => void copy(value).then(setDone)}>
        {done ? <CheckIcon /> : <CopyIcon />}
      </ActionIcon>
    </Tooltip>
  );
}

export function CommandLine({ value }: { value: string }) {
  return (
    <div className="ss-command">
      <pre tabIndex={0}>{value}</pre>
      <CopyButton value={value} />
    </div>
  );
}
