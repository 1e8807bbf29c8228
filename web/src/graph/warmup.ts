/** Code that ran before runs several times faster: the solver lays out a few made-up graphs while nobody waits for it. */

import type { ElkNode } from "elkjs/lib/elk-api";
import type { Elk } from "./arrange";
import { solverGraph } from "./solver";

const SIZES = [4, 8, 12, 16, 24, 32, 32, 40, 40, 40]; // small ones first: a request that comes has to wait for one only
const PAUSE = 25; // milliseconds between two

export async function warmUp(elk: Elk, isBusy: () => boolean): Promise<void> {
  for (const size of SIZES) {
    do await new Promise((resolve) => setTimeout(resolve, PAUSE));
    while (isBusy());
    await elk(sample(size));
  }
}

/** A chain with shortcuts. */
function sample(size: number): ElkNode {
  const children = Array.from({ length: size }, (_, at) => ({
    width: 90 + (at % 5) * 20,
    height: 44,
    role: "forward" as const,
    isEntry: at === 0,
    isExit: at === size - 1,
  }));
  const links = children.slice(1).flatMap((_, at) => [
    { source: at, target: at + 1, text: "" },
    ...(at % 3 === 0 && at + 3 < size ? [{ source: at, target: at + 3, text: "" }] : []),
  ]);
  return solverGraph(children, links, children.map((_, at) => at), "DOWN");
}
