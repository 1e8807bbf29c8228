/** A choice among a few words, with its label before it. */

import { NativeSelect } from "@mantine/core";
import { useId } from "react";

interface Props<T extends string> {
  label: string;
  value: T;
  options: [value: T, words: string][];
  onChange(value: T): void;
}

export function Choice<T extends string>({ label, value, options, onChange }: Props<T>) {
  const id = useId();
  return (
    <span className="ss-views-choice">
      <label htmlFor={id}>{label}</label>
      <NativeSelect
        id={id} size="xs" value={value} onChange={(event) => onChange(event.currentTarget.value as T)}
        data={options.map(([each, words]) => ({ value: each, label: words }))}
      />
    </span>
  );
}
