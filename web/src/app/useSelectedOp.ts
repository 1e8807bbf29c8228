/** The selected op, for what only ops can do; null where a scope, a parameter or nothing is selected. */

import { skipToken, useQuery } from "@tanstack/react-query";
import type { JobView } from "../api/client";
import { nodeQuery } from "../api/queries";
import { useRevision, useView } from "../state/view";

export function useSelectedOp(job: JobView | null, graph: string | null): string | null {
  const selected = useView((state) => state.selected);
  const revision = useRevision(job?.id ?? "", graph ?? "");
  const name = selected?.kind === "node" ? selected.name : null;
  const query = nodeQuery(job?.id ?? "", graph ?? "", revision, name ?? "");
  const node = useQuery(job && graph !== null && name ? query : { ...query, queryFn: skipToken });
  return name && node.data?.kind === "op" && !node.data.folded ? name : null;
}
