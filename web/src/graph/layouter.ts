/**
 * The page's end of the layout worker: one request at a time, only the newest of those that wait. A worker that failed is
 * replaced, and asked once more: its code may not have come, because the server was away.
 */

import type { LayoutRequest } from "./layout";
import type { Answered, Asked } from "./layout.worker";
import type { Scene } from "./scene";

interface Waiting {
  request: LayoutRequest;
  isRepeated: boolean;
  resolve(scene: Scene | null): void;
  reject(error: Error): void;
}

let worker: Worker | null = null;
let running: Waiting | null = null;
let next: Waiting | null = null;
let last = 0;

/** Started early, so that it is ready when the first view comes. */
export function startLayouter(): void {
  if (worker) return;
  worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Answered>) => {
    if ("error" in data) {
      fail(new Error(data.error));
      return;
    }
    running?.resolve(data.scene);
    running = null;
    send();
  };
  worker.onerror = (event) => fail(new Error(event.message || "the layout worker failed"));
}

function fail(error: Error): void {
  worker?.terminate();
  worker = null;
  const failed = running;
  running = null;
  if (failed && !failed.isRepeated && !next) next = { ...failed, isRepeated: true };
  else failed?.reject(error);
  send();
}

/** Null where a newer request came before this one's turn. */
export function layOutInWorker(request: LayoutRequest): Promise<Scene | null> {
  return new Promise((resolve, reject) => {
    next?.resolve(null);
    next = { request, isRepeated: false, resolve, reject };
    send();
  });
}

function send(): void {
  if (running || !next) return;
  startLayouter();
  running = next;
  next = null;
  const asked: Asked = { id: ++last, ...running.request };
  worker!.postMessage(asked);
}
