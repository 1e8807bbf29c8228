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

// Code that ran before runs several times faster: the first view need not wait for that.
const warm = ["a", "b", "c", "d"].map((id) => ({ id, width: 90, height: 40 }));
void elk.layout({
  id: "root",
  layoutOptions: { "elk.algorithm": "layered", "elk.edgeRouting": "ORTHOGONAL" },
  children: warm,
  edges: ["ab", "ac", "bd", "cd", "da"].map((id) => ({
    id,
    sources: [id[0]!],
    targets: [id[1]!],
    labels: [{ text: id, width: 20, height: 10 }],
  })),
});

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
