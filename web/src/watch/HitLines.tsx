/** Below a tensor in the table: which watchpoints it hit, with the values; or why they could not be evaluated. */

import { Button, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { JobView } from "../api/client";
import { type Hit, hitsQuery, useConditions } from "../api/watch";
import { useText } from "../i18n";
import { openTensor } from "../tensor/open";
import { HitText } from "./HitRow";

const NONE: readonly Hit[] = [];

/** The hits of one node in the step that is shown. */
export function useHitsOf(job: JobView, graph: string, node: string): readonly Hit[] {
  const { data } = useQuery({ ...hitsQuery(job, { graph, node }, 0, 500), enabled: job.hits > 0 });
  return data && data.step === job.step && job.hits > 0 ? data.hits : NONE;
}

export function HitLines({ hits, columns }: { hits: readonly Hit[]; columns: number }) {
  const text = useText().tensor;
  const conditions = useConditions();
  if (hits.length === 0) return null;
  return (
    <Table.Tr className="ss-hit-lines" data-testid="tensor-hits">
      <Table.Td />
      <Table.Td colSpan={columns - 1}>
        {hits.map((hit) => (
          <div key={`${hit.watchpoint} ${hit.rank}`} className={hit.error.length > 0 ? "ss-hit-line ss-hit-error" : "ss-hit-line"}>
            <HitText hit={hit} conditions={conditions} />
            <Button
              size="compact-xs" variant="subtle" aria-label={text.openOf(`${hit.node}:${hit.slot}`)} onClick={() => openTensor(hit)}
            >
              {text.openHit}
            </Button>
          </div>
        ))}
      </Table.Td>
    </Table.Tr>
  );
}
