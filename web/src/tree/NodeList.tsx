/** The left panel's list of nodes: filters above, the tree below, in step with the graph both ways. */

import { ActionIcon } from "@mantine/core";
import { useDeferredValue } from "react";
import type { JobView } from "../api/client";
import { CollapseIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { useView, view } from "../state/view";
import { Filters } from "./Filters";
import { Tree } from "./Tree";
import { useRows } from "./useRows";

export function NodeList({ job, graph }: { job: JobView; graph: string }) {
  const text = useText();
  const { rows, found, error, setOpen, onSight } = useRows(job.id, graph);
  const match = useDeferredValue(useView((state) => state.filter.text)); // the rows may lag behind what is typed
  const current = job.cursor?.graph === graph ? job.cursor.node : null;
  return (
    <section className="ss-nodes" aria-labelledby="nodes-title">
      <div className="ss-panel-title">
        <h2 id="nodes-title">{text.nodes}</h2>
        <Tooltip label={text.collapseAll}>
          <ActionIcon size="sm" aria-label={text.collapseAll} onClick={() => view.setAllOpen([])}>
            <CollapseIcon size={14} />
          </ActionIcon>
        </Tooltip>
      </div>
      <Filters job={job} graph={graph} found={found} />
      {error && <div className="ss-note" role="alert">{error.message || text.error.unreachable}</div>}
      {found?.total === 0 ? (
        <div className="ss-note">{text.noMatch}</div>
      ) : (
        <Tree rows={rows} graph={graph} current={current} match={match} setOpen={setOpen} onSight={onSight} />
      )}
    </section>
  );
}
