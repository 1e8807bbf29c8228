/** The way from where a fault began to the tensor: every step, the first with its line of code; or why there is none. */

import { ActionIcon, Loader } from "@mantine/core";
import { skipToken, useQuery } from "@tanstack/react-query";
import { originQuery } from "../api/advice";
import type { JobView, Schemas } from "../api/client";
import { CloseIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { number } from "../i18n/numbers";
import { hasEnded, useMoment } from "../state/job";
import { endTrace, type Trace } from "./state";

export type OriginStep = Schemas["OriginStep"];

/** More steps than are seen at once. */
const MANY = 8;
const NO_PATH: readonly OriginStep[] = [];

/** The path of a trace; empty while there is none. */
export function useOrigin(job: JobView, trace: Trace | null) {
  const { moment, isLive } = useMoment(job);
  const { graph = "", node = "", slot = 0, watchpoint = null } = trace ?? {};
  const options = originQuery(job, { job: job.id, graph, node, slot }, moment, watchpoint);
  const { data, error } = useQuery(trace && isLive ? options : { ...options, queryFn: skipToken });
  const origin = trace ? data : undefined;
  // Where a value comes from does not explain a change from step to step.
  const path = origin?.found && !origin.reason ? origin.path : NO_PATH;
  return { origin, error: trace ? error : null, isLive, isOver: hasEnded(job), path };
}

interface Props {
  found: ReturnType<typeof useOrigin>;
  /** The node that is chosen in the drawing. */
  chosen: string;
  onChoose(step: OriginStep): void;
  onOpen(step: OriginStep): void;
}

export function TraceList({ found: { origin, error, isLive, isOver, path }, chosen, onChoose, onOpen }: Props) {
  const text = useText();
  const words = text.lineage;
  return (
    <section className="ss-lin-trace" aria-label={words.trace} data-testid="trace">
      <div className="ss-lin-trace-head">
        <h3>{words.trace}{path.length > 0 && <span className="ss-dimmed"> · {words.path(path.length)}</span>}</h3>
        <Tooltip label={words.closeTrace}>
          <ActionIcon size="xs" aria-label={words.closeTrace} onClick={endTrace}><CloseIcon size={12} /></ActionIcon>
        </Tooltip>
      </div>
      {error ? (
        <p role="alert">{errorText(error, text)}</p>
      ) : !origin ? (
        <p className="ss-lin-wait">{isLive ? <><Loader size={12} aria-hidden /> {words.tracing}</> : isOver ? text.error.gone : text.error.running}</p>
      ) : path.length === 0 ? (
        <p data-testid="no-origin">{words.noOrigin[origin.reason] ?? words.noOriginFound}</p>
      ) : (
        <>
          {path.length > MANY && <p className="ss-dimmed" data-testid="long-path">{words.longPath(path.length)}</p>}
          <ol aria-label={words.steps}>
            {path.map((step, at) => (
              <li key={at}>
                <button
                  type="button" className="ss-lin-step" data-testid="trace-step" data-name={step.node} aria-current={step.node === chosen || undefined}
                  title={`${step.node}:${step.slot}${step.source ? `\n${placeOf(step.source)}  ${step.source.text}` : ""}`}
                  onClick={() => onChoose(step)} onDoubleClick={() => onOpen(step)}
                >
                  <span className="ss-lin-number">{at + 1}</span>
                  <span className="ss-ellipsis">{step.node.slice(step.node.lastIndexOf("/") + 1)}</span>
                  {step.step !== path.at(-1)!.step && <span className="ss-dimmed">{text.stepOf} {number(step.step)}</span>}
                  <span className="ss-lin-why">{words.why[step.why] ?? step.why}</span>
                </button>
                {at === 0 && <Beginning step={step} isAlone={path.length === 1} />}
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

function Beginning({ step: { source }, isAlone }: { step: OriginStep; isAlone: boolean }) {
  const text = useText().lineage;
  return (
    <div className="ss-lin-beginning" data-testid="origin-source">
      <div>{isAlone ? text.beganAlone : text.began}{source && <> · <span className="ss-mono" title={source.file}>{placeOf(source)}</span></>}</div>
      {source?.text && <code title={source.text}>{source.text.trim()}</code>}
    </div>
  );
}

/** "net.py:12" */
function placeOf({ file, line }: Schemas["SourceLine"]): string {
  return `${file.slice(file.lastIndexOf("/") + 1)}:${line}`;
}
