/** Brings a node into the picture that may not be drawn: opens what is around it, then centres it. */

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import * as asks from "../api/asks";
import { take } from "../api/client";
import type { Reveal } from "./contract";
import { type Drawn, STACK } from "./useScene";

export interface RevealOptions {
  job: string;
  graph: string;
  reveal: Reveal | null;
  drawn: Drawn | null;
  /** Whether all that is open is drawn. What is not may still hold the node: it is waited for. */
  isFresh: boolean;
  /** These are to be open, too; or these alone. */
  onOpenScopes(paths: readonly string[]): void;
  onOpenAlone(paths: readonly string[]): void;
  onOffsets(offsets: Iterable<[string, number]>): void;
  /** The server has said what must be open. */
  onAnswered(serial: number): void;
  onFound(id: string): void;
  /** There is no such node, or nothing that is drawn stands for it. */
  onMissing(name: string, error?: Error): void;
}

interface Pending {
  shown: string;
  open: string[];
}

export function useReveal(options: RevealOptions): void {
  const { job, graph, reveal, drawn, isFresh } = options;
  const [pending, setPending] = useState<Pending | null>(null);
  const latest = useRef(options);
  latest.current = options;

  useEffect(() => {
    if (!reveal) return;
    const stop = new AbortController();
    const settle = (shown: Pending | null) => {
      setPending(shown);
      latest.current.onAnswered(reveal.serial);
    };
    take(asks.reveal(job, graph, reveal.name, { signal: stop.signal }))
      .then((found) => {
        if (stop.signal.aborted) return;
        if (!found.shown) {
          settle(null);
          latest.current.onMissing(reveal.name);
          return;
        }
        const open = found.open.filter(({ id }) => id !== "").map(({ id }) => (id.endsWith("…") ? STACK + id : id));
        latest.current.onOffsets(found.open.map(({ id, offset }): [string, number] => [id, offset]));
        latest.current.onOpenScopes(open);
        settle({ shown: found.shown, open });
      })
      .catch((error: Error) => {
        if (stop.signal.aborted) return;
        settle(null);
        latest.current.onMissing(reveal.name, error);
      });
    return () => stop.abort();
  }, [job, graph, reveal]);

  // In the same frame in which it is drawn.
  useLayoutEffect(() => {
    if (!pending || !drawn || !isFresh) return;
    const { open, shown } = pending;
    if (drawn.scene.boxes.some((box) => box.node.id === shown)) {
      setPending(null);
      latest.current.onFound(shown);
      return;
    }
    const refused = new Set(drawn.view.refused);
    const isFull = open.some((path) => refused.has(path.startsWith(STACK) ? path.slice(1) : path));
    if (isFull && drawn.view.full) latest.current.onOpenAlone(open); // no room beside all that is open
  }, [pending, drawn, isFresh]);
}
