/** On top of the view: which tensor it is, of which step, and how the training goes on. */

import { ActionIcon, Badge, Button } from "@mantine/core";
import type { JobView, NodeView, Schemas } from "../api/client";
import { CopyButton } from "../app/Copy";
import { CloseIcon, PauseIcon, PlayIcon, StepIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useActions } from "../control/actions";
import { ActionButton } from "../control/ActionButton";
import { shapeText } from "../details/format";
import { useText } from "../i18n";
import { number } from "../i18n/numbers";
import { hasEnded } from "../state/job";
import { closeTensor } from "./open";
import type { TensorTarget } from "./parts";
import type { Form } from "./useFigures";

interface Props {
  job: JobView;
  target: TensorTarget;
  /** The output that it is: of an input the one that was read. */
  name: string;
  node: NodeView | undefined;
  form: Form | undefined;
  /** As the graph has it, for a tensor whose values are not shown. */
  declared: Schemas["TypeView"] | undefined;
}

export function Header({ job, target, name, node, form, declared }: Props) {
  const text = useText();
  const slash = name.lastIndexOf("/") + 1;
  const type = form ?? declared;
  return (
    <header className="ss-tensor-head">
      <h2 id="tensor-name" className="ss-tensor-name ss-mono" title={name} data-testid="tensor-name">
        <span className="ss-tensor-scope"><bdi>{name.slice(0, slash)}</bdi></span>
        <span>{name.slice(slash)}</span>
      </h2>
      <CopyButton value={name} />
      {node && <Badge size="sm" variant="light" color="gray" className="ss-badge">{node.op || text.kind[node.kind]}</Badge>}
      {target.input !== undefined && (
        <span className="ss-dimmed ss-ellipsis" title={target.node}>{text.tensor.inputOf(target.input, lastPart(target.node))}</span>
      )}
      <dl className="ss-tensor-facts">
        <Fact name={text.tensor.step} value={form ? number(form.step) : "–"} testid="tensor-step" />
        <Fact name={text.type} value={type?.dtype || "–"} testid="tensor-dtype" />
        <Fact name={text.tensor.shape} value={type?.shape ? shapeText(type.shape, text) : "–"} testid="tensor-shape" />
      </dl>
      <span className="ss-grow" />
      {!hasEnded(job) && <Steps />}
      <Tooltip label={`${text.tensor.close} (Esc)`}>
        <ActionIcon aria-label={text.tensor.close} onClick={closeTensor}><CloseIcon /></ActionIcon>
      </Tooltip>
    </header>
  );
}

function Fact({ name, value, testid }: { name: string; value: string; testid: string }) {
  return (
    <div className="ss-fact">
      <dt>{name}</dt>
      <dd className="ss-mono" data-testid={testid}>{value}</dd>
    </div>
  );
}

function Steps() {
  const text = useText();
  const actions = useActions();
  return (
    <span className="ss-tensor-steps">
      <Button
        size="xs" variant="default" px={8} className="ss-action" leftSection={<StepIcon size={14} />}
        disabled={!actions.possible("resume")} onClick={() => actions.run(1)}
      >
        {text.tensor.runStep}
      </Button>
      <ActionButton action="resume" icon={<PlayIcon size={14} />} />
      <ActionButton action="pause" icon={<PauseIcon size={14} />} />
    </span>
  );
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
