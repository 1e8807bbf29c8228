/** The left panel's list of nodes: filters above, the tree below, in step with the graph both ways. */

import { useDeferredValue } from "react";
import type { JobView } from "../api/client";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { useView } from "../state/view";
import { TickBar } from "../watch/TickBar";
import { useHitMarks } from "../watch/useHits";
import { useTicks } from "../watch/useTicks";
import { Filters } from "./Filters";
import { Tree } from "./Tree";
import { useRows } from "./useRows";

export function NodeList({ job, graph }: { job: JobView; graph: string }) {
  const text = useText();
  const { rows, found, error, setOpen, onSight, filter } = useRows(job.id, graph);
  const match = useDeferredValue(useView((state) => state.filter.text)); // the rows may lag behind what is typed
  const current = job.cursor?.graph === graph ? job.cursor.node : null;
  const ticks = useTicks({ job, graph, rows, found, filter });
  const hits = useHitMarks(job, graph);
  return (
    <section className="ss-nodes" aria-label={text.nodes}>
      <Filters job={job} graph={graph} found={found} />
      {ticks && <TickBar ticks={ticks} isFound={found !== null} />}
      {error && <div className="ss-note" role="alert">{errorText(error, text)}</div>}
      {found?.total === 0 ? (
        <div className="ss-note">{text.noMatch}</div>
      ) : (
        <Tree
          rows={rows} isFound={found !== null} graph={graph} current={current} match={match} setOpen={setOpen} onSight={onSight}
          ticks={ticks} hits={hits}
        />
      )}
    </section>
  );
}
