/** Brings a node into the picture that may not be drawn: opens what is around it, then centres it. */

import { useEffect, useState } from "react";
import * as asks from "../api/asks";
import { take } from "../api/client";
import type { Reveal } from "./contract";
import { type Drawn, STACK } from "./useScene";

export interface RevealOptions {
  job: string;
  graph: string;
  reveal: Reveal | null;
  open: ReadonlySet<string>;
  drawn: Drawn | null;
  /** Whether all that is open is drawn. What is not may still hold the node: it is waited for. */
  isFresh: boolean;
  onOpenScopes(paths: Iterable<string>): void;
  onOffsets(offsets: Iterable<[string, number]>): void;
  onFound(id: string): void;
  /** There is no such node, or nothing that is drawn stands for it. */
  onMissing(name: string, error?: Error): void;
}

interface Pending {
  serial: number;
  shown: string;
  open: string[];
  offsets: [string, number][];
  isAsked: boolean;
}

export function useReveal(options: RevealOptions): void {
  const { job, graph, reveal, drawn, isFresh } = options;
  const [pending, setPending] = useState<Pending | null>(null);

  useEffect(() => {
    if (!reveal) return;
    const stop = new AbortController();
    take(asks.reveal(job, graph, reveal.name, { signal: stop.signal }))
      .then((found) => {
        if (stop.signal.aborted) return;
        if (!found.shown) {
          options.onMissing(reveal.name);
          return;
        }
        const open = found.open.filter(({ id }) => id !== "").map(({ id }) => (id.endsWith("…") ? STACK + id : id));
        const offsets = found.open.map(({ id, offset }): [string, number] => [id, offset]);
        setPending({ serial: reveal.serial, shown: found.shown, open, offsets, isAsked: false });
      })
      .catch((error: Error) => !stop.signal.aborted && options.onMissing(reveal.name, error));
    return () => stop.abort();
    // Only a new wish asks the server: not what else the options hold.
  }, [job, graph, reveal]);

  useEffect(() => {
    if (!pending || !drawn || !isFresh) return;
    const { open, shown, offsets, isAsked } = pending;
    const isThere = drawn.scene.boxes.some((box) => box.node.id === shown);
    if (isThere) {
      setPending(null);
      options.onFound(shown);
      return;
    }
    if (!isAsked) {
      options.onOffsets(offsets);
      options.onOpenScopes(new Set([...options.open, ...open]));
      setPending({ ...pending, isAsked: true });
      return;
    }
    const refused = new Set(drawn.view.refused);
    const isFull = open.some((path) => refused.has(path.startsWith(STACK) ? path.slice(1) : path));
    if (isFull && drawn.view.full) options.onOpenScopes(open); // no room beside all that is open: alone then
  }, [pending, drawn, isFresh]);
}
