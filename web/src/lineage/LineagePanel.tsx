/**
 * Where a tensor comes from and goes to. A click on an output shows its figures, a double click makes it the tensor that
 * the whole view shows; a trace marks the way from where a fault began.
 */

import { useEffect, useMemo, useRef, useState } from "react";
import type { JobView } from "../api/client";
import type { Hit } from "../api/watch";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { useHitMarks } from "../watch/useHits";
import { Bar } from "./Bar";
import { Canvas, type Chosen, type Picturing } from "./Canvas";
import { Figures } from "./Figures";
import type { Side } from "./select";
import { endTrace, isSameTensor, type Tensor, traceToOrigin, useLineage } from "./state";
import { TraceList, useOrigin } from "./TraceList";
import { useDrawing, useProducer } from "./useDrawing";
import { useTrail } from "./useTrail";
import "./lineage.css";

interface Props {
  job: JobView;
  graph: string;
  node: string;
  slot: number;
  /** Of the node, where not its output is shown but what it reads there. */
  input?: number | undefined;
  onOpen(tensor: Tensor): void;
}

export default function LineagePanel({ job, graph, node, slot, input, onOpen }: Props) {
  const text = useText();
  const asked = useMemo(() => ({ graph, node, slot }), [graph, node, slot]);
  const { tensor, isKnown } = useProducer(job, asked, input);
  if (tensor) return <OfTensor job={job} tensor={tensor} onOpen={onOpen} />;
  return <p className="ss-note">{isKnown ? text.lineage.none : text.loading}</p>;
}

const ONE_HOP: Record<Side, number> = { up: 1, down: 1 };
const NONE: ReadonlySet<string> = new Set();
const NO_HITS: readonly Hit[] = [];

function OfTensor({ job, tensor, onOpen }: { job: JobView; tensor: Tensor; onOpen(tensor: Tensor): void }) {
  const text = useText();
  const { graph, node, slot } = tensor;
  const moves = useTrail({ job: job.id, graph, node, slot });
  const key = `${job.id}\n${graph}\n${node}:${slot}`;
  const [kept, setState] = useState({ key, hops: ONE_HOP, unfolded: NONE, chosen: { node, slot } as Chosen });
  const state = kept.key === key ? kept : { key, hops: ONE_HOP, unfolded: NONE, chosen: { node, slot } };
  const { hops, unfolded, chosen } = state;
  const change = (by: Partial<typeof state>) => setState({ ...state, ...by });

  const { trace: wanted, isAsked } = useLineage();
  useEffect(() => {
    if (isAsked) traceToOrigin({ job: job.id, ...tensor, watchpoint: null });
  }, [isAsked, job.id, tensor]);
  const trace = wanted && wanted.job === job.id && wanted.graph === graph ? wanted : null;
  const found = useOrigin(job, trace);
  const path = useMemo(() => found.path.filter((step) => step.graph === graph), [found.path, graph]);
  useTraceEnd(trace !== null && !isSameTensor(trace, tensor) && !path.some((step) => isSameTensor(step, tensor)));

  const canvas = useRef<Picturing>(null);
  const extent = useMemo(() => ({ ...hops, unfolded }), [hops, unfolded]);
  const { picture, error } = useDrawing(job, tensor, extent, path);
  const { byNode } = useHitMarks(job, graph);
  const origin = path[0]?.node ?? null;
  useEffect(() => {
    if (origin !== null) canvas.current?.centre(origin);
  }, [origin, path]);

  const open = ({ node: name, slot: at }: Chosen) => onOpen({ graph, node: name, slot: at });
  const home = picture?.lineage.name;
  // A node that only passes values on stands for the one where they are made.
  const shown = home !== undefined && chosen.node === node && node !== home ? { node: home, slot: picture!.lineage.slot } : chosen;
  return (
    <section className="ss-lineage" aria-label={text.lineage.title} data-testid="lineage">
      <Bar
        moves={moves} hops={hops} more={picture?.drawing.more ?? { up: 0, down: 0 }} isTruncated={picture?.lineage.truncated ?? false} isTracing={trace !== null} canTrace={found.isLive}
        onHops={(side, count) => change({ hops: { ...hops, [side]: count } })}
        onTrace={() => (trace ? endTrace() : traceToOrigin({ job: job.id, ...tensor, watchpoint: null }))}
        onZoom={(by) => canvas.current?.zoom(by)} onFit={() => canvas.current?.fit()}
      />
      <div className="ss-lin-body">
        {trace && (
          <TraceList
            found={found} chosen={chosen.node} onOpen={open}
            onChoose={(step) => {
              change({ chosen: { node: step.node, slot: step.slot } });
              canvas.current?.centre(step.node);
            }}
          />
        )}
        {picture ? (
          <Canvas
            ref={canvas} picture={picture} chosen={shown} origin={origin} subject={`${key} ${hops.up} ${hops.down}`}
            onChoose={(one) => change({ chosen: one })} onOpen={open}
            onUnfold={(id) => change({ unfolded: new Set([...unfolded, id]) })}
          />
        ) : (
          <p className="ss-note ss-grow" role={error ? "alert" : undefined}>{error ? errorText(error, text) : text.loading}</p>
        )}
        <Figures
          job={job} tensor={{ graph, ...shown }} isShown={shown.node === (home ?? node) && shown.slot === slot}
          hits={(byNode.get(shown.node) ?? NO_HITS).filter((hit) => hit.slot === shown.slot)} onOpen={onOpen}
        />
      </div>
    </section>
  );
}

/** A trace ends where the view goes to a tensor that is not on its way. */
function useTraceEnd(isOff: boolean): void {
  useEffect(() => {
    if (isOff) endTrace();
  }, [isOff]);
}
