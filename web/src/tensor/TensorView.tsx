/**
 * The view of one tensor, over the rest of the debugger: figures on top, the guide on the left, values in the middle,
 * lineage below. It follows the step; while the training runs it keeps what it has.
 */

import "./tensor.css";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { JobView, NodeView, Schemas } from "../api/client";
import { nodeQuery } from "../api/queries";
import { useMoment } from "../state/job";
import { useRevision } from "../state/view";
import { Figures } from "./Figures";
import { Header } from "./Header";
import { GuideSide, LineageBelow } from "./Sides";
import { closeTensor } from "./open";
import type { TensorTarget } from "./parts";
import { useOf } from "./useOf";
import { useKnown } from "./useFigures";
import { ValuesPanel } from "./ValuesPanel";

interface Props {
  job: JobView;
  target: TensorTarget;
}

export default function TensorView({ job, target }: Props) {
  const box = useRef<HTMLElement>(null);
  const revision = useRevision(job.id, target.graph);
  const { data: node, isPending } = useQuery(nodeQuery(job.id, target.graph, revision, target.node));
  const { moment, isLive } = useMoment(job);
  const { of, setOf } = useOf(job);
  const place = { job: job.id, ...target };
  const declared = typeOf(target, node);
  const known = useKnown(place, moment, isLive, of, isPending ? null : declared?.shape?.length === 0);
  const name = nameOf(target, node);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  useEscape(box);
  return (
    <section ref={box} className="ss-tensor" aria-labelledby="tensor-name" tabIndex={-1} data-tensor-view>
      <Header job={job} target={target} name={name} node={node} form={known.form} declared={declared} />
      {known.form && !(known.error && isLive) && <Figures of={of} figures={known.figures} comparison={known.comparison} isOld={known.isOld || !isLive} />}
      <div className="ss-tensor-body">
        <GuideSide job={job} place={place} hasValues={of !== "current" || !known.error} />
        <div className="ss-tensor-main">
          <ValuesPanel job={job} place={place} of={of} onOf={setOf} moment={moment} isLive={isLive} known={known} />
          {(target.graph || node) && <LineageBelow job={job} target={{ ...target, graph: target.graph || node!.graph }} />}
        </div>
      </div>
    </section>
  );
}

/** An output by its node; an input by the output that was read. */
function nameOf({ node: name, slot, input }: TensorTarget, node: NodeView | undefined): string {
  const port = input === undefined ? undefined : node?.inputs.find(({ index }) => index === input);
  return port?.node ? `${port.node}:${port.slot}` : input === undefined ? `${name}:${slot}` : name;
}

/** What the graph says of it. */
function typeOf({ slot, input }: TensorTarget, node: NodeView | undefined): Schemas["TypeView"] | undefined {
  if (input !== undefined) return node?.inputs.find(({ index }) => index === input)?.type;
  return node?.outputs.find((output) => output.slot === slot)?.type;
}

/** Escape closes the view, unless something in it has its own use for that: an open list, a typed text. */
function useEscape(box: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      const target = event.target instanceof Element ? event.target : null;
      const isElsewhere = target !== null && target !== document.body && !box.current?.contains(target);
      if (!isElsewhere && target?.getAttribute("aria-expanded") !== "true") closeTensor();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [box]);
}
