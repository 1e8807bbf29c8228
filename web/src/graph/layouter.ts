/** The page's end of the layout worker: one request at a time, only the newest of those that wait. */

import type { LayoutRequest } from "./layout";
import type { Answered, Asked } from "./layout.worker";
import type { Scene } from "./scene";

interface Waiting {
  request: LayoutRequest;
  resolve(scene: Scene | null): void;
  reject(error: Error): void;
}

let worker: Worker | null = null;
let running: Waiting | null = null;
let next: Waiting | null = null;
let last = 0;

/** Started early, so that it is ready when the first view comes; with the solver, where that view will need it. */
export function startLayouter(withSolver = false): void {
  if (worker) return;
  worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Answered>) => {
    const done = running;
    running = null;
    if (done) {
      if ("error" in data) done.reject(new Error(data.error));
      else done.resolve(data.scene);
    }
    send();
  };
  if (withSolver) worker.postMessage("soon");
  worker.onerror = (event) => {
    worker?.terminate();
    worker = null;
    running?.reject(new Error(event.message || "the layout worker failed"));
    running = null;
  };
}

/** Null where a newer request came before this one's turn. */
export function layOutInWorker(request: LayoutRequest): Promise<Scene | null> {
  return new Promise((resolve, reject) => {
    next?.resolve(null);
    next = { request, resolve, reject };
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
