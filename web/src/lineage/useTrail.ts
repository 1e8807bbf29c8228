/** Back and forward over the tensors that were visited: the browser's own, so that both always agree. */

import { useEffect, useRef } from "react";
import { isSameTensor, type Tensor, useLineage } from "./state";
import { arrive, NO_TRAIL } from "./trail";

type Place = Tensor & { job: string };

const isSame = (a: Place, b: Place): boolean => a.job === b.job && isSameTensor(a, b);

let isMove = false; // the address changed because the browser went back or forward
window.addEventListener("popstate", () => (isMove = true), { capture: true });

export interface Moves {
  canBack: boolean;
  canForward: boolean;
}

export function useTrail({ job, graph, node, slot }: Place): Moves {
  const trail = useLineage((state) => state.trail);
  const isFirst = useRef(true);
  useEffect(() => {
    const place = { job, graph, node, slot };
    useLineage.setState(({ trail: before }) => {
      const here = before.visited[before.at];
      // Opened anew from elsewhere: what lies behind is no tensor.
      const isNew = isFirst.current && !isMove && !(here && isSame(here, place));
      return { trail: arrive(isNew ? NO_TRAIL : before, place, isMove, isSame) };
    });
    isFirst.current = false;
    isMove = false;
  }, [job, graph, node, slot]);
  return { canBack: trail.at > 0, canForward: trail.at < trail.visited.length - 1 };
}
