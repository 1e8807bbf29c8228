/** Lays views out beside the page's thread. */

import type { Cache } from "./arrange";
import { layOut, type LayoutRequest } from "./layout";
import type { Scene } from "./scene";
import { setFont } from "./sizes";

export interface Asked extends LayoutRequest {
  id: number;
}

export type Answered = { id: number; scene: Scene } | { id: number; error: string };

const cache: Cache = new Map();
let font = "";

self.onmessage = ({ data }: MessageEvent<Asked>) => {
  if (font !== data.font) setFont((font = data.font));
  let answer: Answered;
  try {
    answer = { id: data.id, scene: layOut(data, cache) };
  } catch (error) {
    answer = { id: data.id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(answer);
};
