/** Back and forward over the tensors that were visited: the browser's own, so that both always agree. */

import { useEffect } from "react";
import { isSameTensor, type Tensor, useLineage } from "./state";
import { arrive } from "./trail";

type Place = Tensor & { job: string };

const isSame = (a: Place, b: Place): boolean => a.job === b.job && isSameTensor(a, b);

export interface Moves {
  canBack: boolean;
  canForward: boolean;
}

export function useTrail({ job, graph, node, slot }: Place): Moves {
  const trail = useLineage((state) => state.trail);
  useEffect(() => {
    const place = { job, graph, node, slot };
    const entry = history.state as { trail?: number } | null;
    const next = arrive(useLineage.getState().trail, place, entry?.trail ?? null, isSame);
    useLineage.setState({ trail: next });
    history.replaceState({ ...entry, trail: next.at }, ""); // each entry of the history knows its place
  }, [job, graph, node, slot]);
  return { canBack: trail.at > 0, canForward: trail.at < trail.visited.length - 1 };
}
