/** From what is open to a picture: the server's view of it, laid out in the worker. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import * as asks from "../api/asks";
import { take } from "../api/client";
import { useText } from "../i18n";
import { layOutInWorker } from "./layouter";
import type { Direction, Scene, View } from "./scene";
import { edgeText, setFont, subtitle } from "./sizes";

/** Before the id of a stack among the open scopes. */
export const STACK = "\0";

/** The open set's name of a box. */
export function openKey(node: { id: string; kind: string }): string {
  return node.kind === "stack" ? STACK + node.id : node.id;
}

export interface SceneRequest {
  job: string;
  graph: string;
  revision: number;
  open: ReadonlySet<string>;
  /** What is drawn stays as it is: more is about to be opened. */
  isHeld: boolean;
  /** Of pages, by the id of what is open; the root is "". */
  offsets: ReadonlyMap<string, number>;
  direction: Direction;
}

export interface Drawn {
  scene: Scene;
  view: View;
  /** Of which job and graph. */
  of: string;
}

export interface SceneState {
  drawn: Drawn | null;
  /** Whether all that is open is drawn: nothing is on its way. */
  isFresh: boolean;
  error: Error | null;
  isBusy: boolean;
  retry(): void;
}

/** A page of a thousand drawn nodes: no more scopes than that can be open. */
const MOST_OPEN = 1000;

export function useScene({ job, graph, revision, open, isHeld, offsets, direction }: SceneRequest): SceneState {
  const text = useText().canvas;
  const of = `${job}\n${graph}`;
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const held = useRef(open);
  if (!isHeld || drawn?.of !== of) held.current = open;
  const shown = held.current;
  const opened = useMemo(
    () => [...shown].map((path) => (path.startsWith(STACK) ? path.slice(1) : path)).slice(-MOST_OPEN),
    [shown],
  );
  const at = useMemo(
    () => [...offsets].filter(([, offset]) => offset > 0).map(([path, offset]) => `${offset}:${path}`),
    [offsets],
  );
  const query = useQuery({
    queryKey: ["graph-view", job, graph, revision, opened, at],
    queryFn: ({ signal }) => take(asks.view(job, graph, opened, at, { signal })),
    staleTime: Infinity,
    gcTime: 60_000,
    structuralSharing: false,
  });
  const [failure, setFailure] = useState<Error | null>(null);
  const [working, setWorking] = useState(false);
  const view = query.data;

  const font = useMemo(() => {
    const family = getComputedStyle(document.body).fontFamily;
    setFont(family);
    return family;
  }, []);

  useEffect(() => {
    if (!view) return;
    let isWanted = true;
    setWorking(true);
    const request = {
      view,
      direction,
      font,
      subtitles: view.nodes.map((node) => subtitle(node, text.inside)),
      labels: view.edges.map((edge) => edgeText(edge, text.tensors)),
    };
    layOutInWorker(request)
      .then((scene) => {
        if (!isWanted || !scene) return;
        setDrawn({ scene, view, of });
        setFailure(null);
      })
      .catch((error: Error) => isWanted && setFailure(error))
      .finally(() => isWanted && setWorking(false));
    return () => {
      isWanted = false;
    };
  }, [view, direction, text, of, font]);

  return {
    drawn: drawn?.of === of ? drawn : null,
    isFresh: view !== undefined && drawn?.view === view && drawn.scene.direction === direction,
    error: query.error ?? failure,
    isBusy: query.isFetching || working,
    retry() {
      setFailure(null);
      void query.refetch();
    },
  };
}
