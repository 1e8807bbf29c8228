/** Bottom left: how the training goes on. */

import { Button, NumberInput, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import type { JobView } from "../api/client";
import { NextIcon, PauseIcon, PlayIcon, PreviousIcon, RunToIcon, StopIcon, TargetIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { ActionButton } from "./ActionButton";
import { useActions } from "./actions";
import { type Side, useStanding } from "./standing";

const MOST_STEPS = 2 ** 31 - 1;

/** What can be done within a step, by how the training is stepped. */
const HINTS = { recorded: "recordedHint", live: "liveHint", forward: "forwardHint", steps: "stepsHint" } as const;

export function ControlPanel({ job }: { job: JobView }) {
  const text = useText();
  const { situation } = useActions();
  const hint = text[HINTS[job.stepping]];
  const isBound = job.stepping === "forward" || job.stepping === "steps";
  return (
    <section className="ss-control" aria-labelledby="control-title">
      <h2 id="control-title">{text.control}</h2>
      <Steps />
      <div className="ss-buttons">
        <ActionButton action="resume" icon={<PlayIcon size={14} />} />
        <ActionButton action="pause" icon={<PauseIcon size={14} />} hint={text.pausing} />
        <ActionButton action="terminate" icon={<StopIcon size={14} />} />
      </div>
      <div className="ss-buttons ss-buttons-two">
        <ActionButton action="previous_node" icon={<PreviousIcon size={14} />} hint={hint} />
        <ActionButton action="next_node" icon={<NextIcon size={14} />} hint={hint} />
        <ActionButton action="current_node" icon={<TargetIcon size={14} />} />
        <ActionButton action="run_to" icon={<RunToIcon size={14} />} hint={job.stepping === "steps" ? hint : situation.op === null ? text.runToNeedsNode : ""} />
      </div>
      {isBound && <p className="ss-bound">{hint}</p>}
      {job.stepping === "live" && <Standing />}
    </section>
  );
}

/** Where next node and run to node stop: a live training can stand on either side of a node. */
function Standing() {
  const text = useText();
  const side = useStanding((state) => state.side);
  return (
    <div className="ss-standing">
      <span id="standing">{text.standing}</span>
      <SegmentedControl
        size="xs"
        aria-labelledby="standing"
        value={side}
        onChange={(value) => useStanding.setState({ side: value as Side })}
        data={[
          { value: "before", label: text.beforeNode },
          { value: "after", label: text.afterNode },
        ]}
      />
    </div>
  );
}

function Steps() {
  const text = useText();
  const { possible, run } = useActions();
  const [steps, setSteps] = useState<number | string>(1);
  const isPossible = possible("resume") && typeof steps === "number" && steps >= 1;
  return (
    <form
      className="ss-steps"
      onSubmit={(event) => {
        event.preventDefault();
        if (isPossible) run(steps);
      }}
    >
      <label htmlFor="steps">{text.steps}</label>
      <NumberInput
        id="steps" size="xs" value={steps} onChange={setSteps} min={1} max={MOST_STEPS} clampBehavior="strict"
        allowDecimal={false} allowNegative={false} stepHoldDelay={400} stepHoldInterval={60}
      />
      <Tooltip label={text.runSteps}>
        <Button type="submit" size="xs" disabled={!isPossible}>{text.ok}</Button>
      </Tooltip>
    </form>
  );
}
