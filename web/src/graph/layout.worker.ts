/** Lays views out beside the page's thread. */

import ELK from "elkjs/lib/elk.bundled.js";
import type { Cache } from "./arrange";
import { layOut, type LayoutRequest } from "./layout";
import type { Scene } from "./scene";
import { setFont } from "./sizes";

export interface Asked extends LayoutRequest {
  id: number;
}

export type Answered = { id: number; scene: Scene } | { id: number; error: string };

const elk = new ELK(); // takes `onmessage` for itself: it has to be there before ours
const cache: Cache = new Map();
let font = "";

self.onmessage = async ({ data }: MessageEvent<Asked>) => {
  if (font !== data.font) setFont((font = data.font));
  let answer: Answered;
  try {
    answer = { id: data.id, scene: await layOut(data, (graph) => elk.layout(graph), cache) };
  } catch (error) {
    answer = { id: data.id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(answer);
};
