/** The numbers of a condition: one line a check, and below them the range of values where a check needs it. */

import { Checkbox, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { Condition, ConditionParameter } from "../api/watch";
import { useLanguage, useText } from "../i18n";
import { checksOf, type Code, type Field, type Form, type Futile, futileOf, numberText, wanted } from "./form";
import { rangeText, type WatchTexts } from "./words";

interface Props {
  condition: Condition;
  form: Form;
  errorAt(field: string): string;
  onChange(fields: Record<string, Field>): void;
  onTouch(name: string): void;
}

export function Parameters({ condition, form, errorAt, onChange, onTouch }: Props) {
  const text = useText().watch;
  const language = useLanguage((state) => state.language);
  const checks = checksOf(condition);
  const counted = wanted(condition, form);
  const support = counted.filter(({ role }) => role === "support");
  const futile = futileOf(condition, form);
  if (checks.length === 0) return <p className="ss-dimmed">{text.noParameters}</p>;
  const put = (name: string, change: Partial<Field>) => {
    const present = form.fields[name] ?? { on: false, text: "" };
    onChange({ ...form.fields, [name]: { ...present, ...change } });
  };
  const none = errorAt("condition");
  const one = (each: ConditionParameter, label: string, isEnabled: boolean) => (
    <Value
      parameter={each} label={label} value={form.fields[each.name]?.text ?? ""} error={errorAt(each.name)}
      futile={isEnabled ? futile.get(each.name) : undefined} isEnabled={isEnabled}
      onChange={(value) => put(each.name, { text: value, ...(each.role === "check" ? { on: true } : {}) })}
      onTouch={() => onTouch(each.name)}
    />
  );
  return (
    <fieldset className="ss-checks" aria-describedby={none ? "no-check" : undefined}>
      <legend>{checks.length > 1 ? text.anyHits : text.parameters}</legend>
      {checks.map((each) => {
        const isOn = form.fields[each.name]?.on ?? false;
        const label = each.label[language];
        return (
          <Line
            key={each.name}
            isOn={checks.length === 1 || isOn}
            label={
              checks.length > 1 ? (
                <Checkbox
                  size="xs" label={label} checked={isOn} data-check={each.name}
                  onChange={(event) => put(each.name, { on: event.currentTarget.checked })}
                />
              ) : (
                label
              )
            }
          >
            {one(each, label, checks.length === 1 || isOn)}
          </Line>
        );
      })}
      {support.length > 0 && (
        <div className="ss-checks-range" role="group" aria-label={text.within}>
          <div className="ss-dimmed">{text.within}</div>
          {support.map((each) => <Line key={each.name} label={each.label[language]}>{one(each, each.label[language], true)}</Line>)}
        </div>
      )}
      {none && <p id="no-check" className="ss-bad" role="alert">{none}</p>}
    </fieldset>
  );
}

function Line({ label, isOn = true, children }: { label: ReactNode; isOn?: boolean; children: ReactNode }) {
  return (
    <div className={isOn ? "ss-check" : "ss-check ss-check-off"}>
      <div className="ss-check-label">{label}</div>
      {children}
    </div>
  );
}

interface ValueProps {
  parameter: ConditionParameter;
  label: string;
  value: string;
  error: string;
  futile: Futile | undefined;
  /** A value can always be typed: that switches its check on. */
  isEnabled: boolean;
  onChange(value: string): void;
  onTouch(): void;
}

function Value({ parameter, label, value, error, futile, isEnabled, onChange, onTouch }: ValueProps) {
  const text = useText().watch;
  const hints = [
    parameter.role === "support" ? "" : rangeText({ ...parameter, unit: "" }, text),
    parameter.default === null || numberText(parameter.default) === value ? "" : text.byDefault(numberText(parameter.default)),
  ];
  const isWrong = isEnabled && error !== "";
  return (
    <>
      <TextInput
        size="xs" aria-label={label} name={parameter.name} value={value} error={isWrong} autoComplete="off" spellCheck={false}
        inputMode="decimal" aria-describedby={`hint-${parameter.name}`} aria-invalid={isWrong}
        onChange={(event) => onChange(event.currentTarget.value)} onBlur={onTouch}
      />
      <div className="ss-check-hint">{[parameter.unit, hints.filter(Boolean).join(" · ")].filter(Boolean).join("  ")}</div>
      <div className="ss-check-told" id={`hint-${parameter.name}`}>
        {isWrong && <div className="ss-bad" role="alert" data-testid={`error-${parameter.name}`}>{error}</div>}
        {!isWrong && futile && <div className="ss-watch-futile" role="status" data-testid={`futile-${parameter.name}`}>{text[futile]}</div>}
      </div>
    </>
  );
}

/** What is wrong, in words; `message` is the server's own, for codes that the page does not know. */
export function codeText(code: Code, parameter: ConditionParameter | undefined, text: WatchTexts, message = ""): string {
  switch (code) {
    case "missing_parameter":
      return parameter ? text.invalid.missing_parameter : text.invalid.missing_check;
    case "out_of_range":
      return parameter ? text.invalid.out_of_range(rangeText(parameter, text)) : message || text.invalid.other;
    case "unknown_condition":
    case "unknown_parameter":
    case "missing_companion":
    case "start_after_end":
    case "not_a_number":
    case "no_nodes":
    case "not_watchable":
      return text.invalid[code];
    default:
      return message || text.invalid.other;
  }
}
