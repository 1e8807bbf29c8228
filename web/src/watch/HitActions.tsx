/** Below the list of hits, for the one that was clicked: its fault traced to where it began. */

import { Button } from "@mantine/core";
import type { JobView } from "../api/client";
import type { Hit } from "../api/watch";
import { TargetIcon } from "../app/icons";
import { useText } from "../i18n";
import { traceToOrigin } from "../lineage/state";
import { openTensor } from "../tensor/open";

export function HitActions({ job, hit: { graph, node, slot, watchpoint } }: { job: JobView; hit: Hit }) {
  const text = useText();
  const tensor = { graph, node, slot };
  const trace = () => {
    traceToOrigin({ job: job.id, ...tensor, watchpoint });
    openTensor(tensor);
  };
  return (
    <div className="ss-hit-actions" data-testid="hit-actions">
      <Button size="compact-xs" variant="light" onClick={() => openTensor(tensor)}>{text.tensor.open}</Button>
      <Button size="compact-xs" variant="light" leftSection={<TargetIcon size={12} />} onClick={trace}>{text.lineage.trace}</Button>
    </div>
  );
}
