/** Lays views out beside the page's thread. The solver is large: it comes when it is needed, or when there is time. */

import type { ELK } from "elkjs/lib/elk-api";
import type { Cache } from "./arrange";
import { layOut, type LayoutRequest } from "./layout";
import type { Scene } from "./scene";
import { setFont } from "./sizes";
import { warmUp } from "./warmup";

export interface Asked extends LayoutRequest {
  id: number;
}

export type Answered = { id: number; scene: Scene } | { id: number; error: string };

const cache: Cache = new Map();
let font = "";
let solver: Promise<ELK> | null = null;
let isBusy = false;

function load(): Promise<ELK> {
  solver ??= import("elkjs/lib/elk.bundled.js").then(({ default: Elk }) => {
    const elk = new Elk();
    self.onmessage = answer; // which it took for itself
    warmUp((graph) => elk.layout(graph), () => isBusy).catch(() => undefined); // prettier-ignore
    return elk;
  });
  return solver;
}

/** Ahead of time; where it does not come now, whoever needs it will hear of that. */
function loadSoon(): void {
  load().catch(() => undefined);
}

async function answer({ data }: MessageEvent<Asked | "soon">): Promise<void> {
  if (data === "soon") {
    loadSoon();
    return;
  }
  if (font !== data.font) setFont((font = data.font));
  isBusy = true;
  let answered: Answered;
  try {
    answered = { id: data.id, scene: await layOut(data, async (graph) => (await load()).layout(graph), cache) };
  } catch (error) {
    answered = { id: data.id, error: error instanceof Error ? error.message : String(error) };
  }
  isBusy = false;
  self.postMessage(answered);
  setTimeout(loadSoon, AFTER_FIRST);
}

const AFTER_FIRST = 300; // milliseconds: the page draws the first picture in them

self.onmessage = answer;
