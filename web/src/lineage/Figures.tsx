/** The figures of the output that was clicked in the drawing, and the watchpoints that it hit. */

import { Button } from "@mantine/core";
import { skipToken, useQuery } from "@tanstack/react-query";
import type { JobView } from "../api/client";
import { statsQuery } from "../api/queries";
import { type Hit, useConditions } from "../api/watch";
import { shapeText } from "../details/format";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { number } from "../i18n/numbers";
import { reveal } from "../state/address";
import { hasEnded, useMoment } from "../state/job";
import { figuresOf } from "../tensor/statistics";
import { HitText } from "../watch/HitRow";
import type { Tensor } from "./state";

interface Props {
  job: JobView;
  tensor: Tensor;
  /** The tensor that the whole view shows. */
  isShown: boolean;
  hits: readonly Hit[];
  onOpen(tensor: Tensor): void;
}

export function Figures({ job, tensor, isShown, hits, onOpen }: Props) {
  const text = useText();
  const conditions = useConditions();
  const { graph, node, slot } = tensor;
  const last = node.slice(node.lastIndexOf("/") + 1);
  return (
    <section className="ss-lin-figures" aria-label={text.lineage.figures} data-testid="lineage-figures" tabIndex={0}>
      <h3 className="ss-mono ss-ellipsis" title={node}>{slot < 0 ? last : `${last}:${slot}`}</h3>
      <div className="ss-lin-buttons">
        {slot >= 0 && (
          <Button size="compact-xs" variant="light" disabled={isShown} onClick={() => onOpen(tensor)}>{text.lineage.open}</Button>
        )}
        <Button size="compact-xs" variant="default" onClick={() => reveal({ kind: "node", name: node }, graph)}>{text.lineage.showInGraph}</Button>
      </div>
      {slot >= 0 && <OfTensor job={job} tensor={tensor} />}
      {hits.length > 0 ? (
        <>
          <h4>{text.lineage.hits}</h4>
          {hits.map((hit) => (
            <div key={`${hit.watchpoint} ${hit.rank}`} className={hit.error.length > 0 ? "ss-hit-line ss-hit-error" : "ss-hit-line"}>
              <HitText hit={hit} conditions={conditions} />
            </div>
          ))}
        </>
      ) : (
        slot >= 0 && <p className="ss-dimmed">{text.lineage.notHit}</p>
      )}
    </section>
  );
}

function OfTensor({ job, tensor }: { job: JobView; tensor: Tensor }) {
  const text = useText();
  const { moment, isLive } = useMoment(job);
  const options = statsQuery({ job: job.id, ...tensor }, moment);
  const { data, error } = useQuery(isLive ? options : { ...options, queryFn: skipToken });
  if (error) return <p className="ss-dimmed" role="alert">{errorText(error, text)}</p>;
  if (!data) return <p className="ss-dimmed">{isLive ? text.loading : hasEnded(job) ? text.error.gone : text.error.running}</p>;
  return (
    <>
      <p className="ss-lin-type">
        <span>{text.stepOf} {number(data.step)}</span>
        <span className="ss-mono">{data.dtype}</span>
        <span className="ss-mono">{shapeText(data.shape, text)}</span>
      </p>
      <dl className="ss-lin-stats">
        {figuresOf(data.dtype).map(({ label, value, isBad }) => (
          <div key={label(text.tensor)}>
            <dt>{label(text.tensor)}</dt>
            <dd className={isBad?.(data) ? "ss-mono ss-bad" : "ss-mono"}>{value(data)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
