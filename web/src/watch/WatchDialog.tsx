/** Makes a watchpoint, or changes one: what to look for, with which numbers, on which nodes. */

import { Alert, Button, Group, Modal, Radio, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { JobView } from "../api/client";
import {
  type Condition, type Covered, createWatchpoint, fieldOf, putWatchpoint, updateWatchpoint, useConditions, type Watchpoint,
} from "../api/watch"; // prettier-ignore
import type { Selection } from "../graph/contract";
import { useLanguage, useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { type Code, type Form, formOf, type Nodes, problemsOf, startForm, valuesOf } from "./form";
import { codeText, Parameters } from "./Parameters";
import { watchView } from "./state";
import { warningText } from "./words";

type Category = Condition["category"];
const CATEGORIES: readonly Category[] = ["tensor", "weight", "activation", "gradient"];

interface Props {
  job: JobView;
  edited?: Watchpoint;
  /** What is selected on the page, and whether the watchpoint is meant for it. */
  at: (Selection & { graph: string }) | null;
  isThere: boolean;
}

export default function WatchDialog(props: Props) {
  const text = useText();
  const { edited } = props;
  const conditions = useConditions();
  return (
    <Modal
      opened onClose={watchView.close} size={600} centered closeButtonProps={{ "aria-label": text.close }}
      title={edited ? text.watch.editTitle(edited.id) : text.watch.newTitle}
    >
      {conditions.length > 0 && <Fields {...props} conditions={conditions} />}
    </Modal>
  );
}

function Fields({ job, edited, at, isThere, conditions }: Props & { conditions: readonly Condition[] }) {
  const text = useText();
  const language = useLanguage((state) => state.language);
  const client = useQueryClient();
  const of = (id: string) => conditions.find((each) => each.id === id) ?? conditions[0]!;
  const [form, setForm] = useState<Form>(() =>
    edited ? formOf(of(edited.condition), edited) : startForm(firstOf(conditions, "tensor"), at && isThere ? "selection" : "base"),
  );
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<{ field: string; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const body = useRef<HTMLFormElement>(null);
  const condition = of(form.condition);
  const problems = problemsOf(condition, form);
  const fields = new Set([...condition.parameters.map(({ name }) => name), "condition", "nodes", "name"]);
  const change = (next: Partial<Form>) => {
    setForm((present) => ({ ...present, ...next }));
    setRefused(null);
  };
  const pick = (id: string) => {
    const next = startForm(of(id), form.nodes);
    change({ ...next, name: form.name });
    setTouched(new Set());
  };
  const errorAt = (field: string): string => {
    if (refused?.field === field) return refused.text;
    const code = problems.get(field);
    const parameter = condition.parameters.find(({ name }) => name === field);
    return code && touched.has(field) ? codeText(code, parameter, text.watch) : "";
  };

  // The first mistake takes the focus, once it is marked.
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (tries > 0) body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [tries, refused]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setTouched(fields);
    if (problems.size > 0) {
      setTries(tries + 1);
      return;
    }
    setBusy(true);
    const given = { condition: condition.id, parameters: valuesOf(condition, form), name: form.name.trim() };
    try {
      const made = edited
        ? await updateWatchpoint(job.id, edited.id, given)
        : await createWatchpoint(job.id, given, covered(condition, form.nodes, at));
      putWatchpoint(client, job.id, made);
      watchView.close();
      if (!edited) watchView.tick(made.id);
      const said = edited ? text.watch.saved(made.id) : text.watch.created(made.id, made.watched);
      const warned = made.warnings.map((warning) => warningText(warning, text.watch));
      notifications.show({ color: warned.length > 0 ? "orange" : undefined, message: [said, ...warned].join(" ") });
    } catch (error) {
      const wrong = fieldOf(error);
      const field = wrong?.field === "scopes" ? "nodes" : (wrong?.field ?? "");
      const known = wrong && fields.has(field) ? { field, code: wrong.code } : null;
      const parameter = condition.parameters.find(({ name }) => name === known?.field);
      const said = known ? codeText(known.code as Code, parameter, text.watch, errorText(error as Error, text)) : errorText(error as Error, text);
      setRefused({ field: known?.field ?? "", text: said });
      setTries(tries + 1);
      setBusy(false);
    }
  };

  return (
    <form ref={body} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <SegmentedControl
          fullWidth size="xs" aria-label={text.watch.collection} value={condition.category}
          data={CATEGORIES.map((value) => ({ value, label: text.watch.collections[value] }))}
          onChange={(value) => pick(firstOf(conditions, value as Category).id)}
        />
        <Select
          size="xs" label={text.watch.condition} value={condition.id} allowDeselect={false} data-autofocus maxDropdownHeight={320}
          data={conditions.filter(({ category }) => category === condition.category).map(({ id, name }) => ({ value: id, label: name[language] }))}
          onChange={(id) => id && id !== condition.id && pick(id)}
          error={refused?.field === "condition" ? refused.text : undefined}
          inputWrapperOrder={["label", "input", "error", "description"]}
          description={condition.description[language]}
        />
        <Notes job={job} condition={condition} />
        <Parameters condition={condition} form={form} errorAt={errorAt} onChange={(fields) => change({ fields })} onTouch={(name) => setTouched(new Set([...touched, name]))} />
        {edited ? (
          <p className="ss-dimmed">{text.watch.sameNodes}</p>
        ) : (
          <Where condition={condition} at={at} value={form.nodes} error={errorAt("nodes")} onChange={(nodes) => change({ nodes })} />
        )}
        <TextInput
          size="xs" label={text.watch.name} placeholder={text.watch.nameHint} value={form.name} maxLength={200} error={errorAt("name")}
          autoComplete="off" onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <Advice condition={condition} />
        {refused?.field === "" && <Alert color="red" role="alert" p="xs">{refused.text}</Alert>}
      </Stack>
      <Group justify="flex-end" className="ss-dialog-buttons">
        <Button variant="default" onClick={watchView.close}>{text.cancel}</Button>
        <Button type="submit" loading={isBusy}>{text.ok}</Button>
      </Group>
    </form>
  );
}

function firstOf(conditions: readonly Condition[], category: Category): Condition {
  return conditions.find((each) => each.category === category) ?? conditions[0]!;
}

function covered(condition: Condition, nodes: Nodes, at: Props["at"]): Covered {
  if (nodes === "selection" && at) return at.kind === "scope" ? { scopes: [at.name], graph: at.graph } : { nodes: [at.name], graph: at.graph };
  return { base: nodes === "all" ? "tensor" : condition.base };
}

/** When it is checked, where that is not after each step. */
function Notes({ job, condition }: { job: JobView; condition: Condition }) {
  const text = useText().watch;
  if (condition.initial_only) {
    return job.step > 0 ? <p className="ss-watch-futile">{text.initialOver}</p> : <p className="ss-dimmed">{text.initialOnly}</p>;
  }
  return condition.needs_previous ? <p className="ss-dimmed">{text.needsPrevious}</p> : null;
}

function Advice({ condition }: { condition: Condition }) {
  const text = useText().watch;
  const language = useLanguage((state) => state.language);
  if (condition.advice.length === 0) return null;
  return (
    <div className="ss-advice">
      {text.advice}
      <ul>{condition.advice.map((line) => <li key={line.en}>{line[language]}</li>)}</ul>
    </div>
  );
}

interface WhereProps {
  condition: Condition;
  at: Props["at"];
  value: Nodes;
  error: string;
  onChange(nodes: Nodes): void;
}

function Where({ condition, at, value, error, onChange }: WhereProps) {
  const text = useText().watch;
  return (
    <Radio.Group
      size="xs" label={text.nodes} description={text.laterHint} value={value} error={error || undefined}
      onChange={(nodes) => onChange(nodes as Nodes)}
    >
      <Stack gap={6} mt={6}>
        <Radio size="xs" value="base" label={text.allOf[condition.base]} />
        {condition.base !== "tensor" && <Radio size="xs" value="all" label={text.everyNode} />}
        {at && (
          <Radio
            size="xs" value="selection"
            label={<>{at.kind === "scope" ? text.thisScope : text.thisNode}: <span className="ss-mono ss-wrap">{at.name}</span></>}
          />
        )}
      </Stack>
    </Radio.Group>
  );
}
