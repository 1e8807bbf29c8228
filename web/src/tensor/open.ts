/** Opening and closing the view of a tensor, from anywhere on the page. The focus comes back to where it was. */

import { beginTrail } from "../lineage/state";
import { leaveTensor, showTensor } from "../state/address";
import type { TensorTarget } from "./parts";

let opener: Element | null = null;

/** Shows a tensor over the graph, with an entry of its own in the browser's history. */
export function openTensor({ graph, node, slot, input }: TensorTarget): void {
  if (!document.querySelector("[data-tensor-view]")) {
    opener = document.activeElement;
    beginTrail();
  }
  showTensor(graph, input === undefined ? { node, slot } : { node, slot, input });
}

export function closeTensor(): void {
  leaveTensor();
}

/** Once the view is gone: the focus goes back to what opened it, if that is still there. */
export function returnFocus(): void {
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
  opener = null;
}

type ViewCode = typeof import("./TensorView");
let code: ViewCode | undefined;

/** Gets the view's code, best before it is needed. */
export async function loadView(): Promise<ViewCode> {
  code ??= await import("./TensorView");
  return code;
}

/**
 * For React's `lazy`: code that is here is handed over at once. What React had to wait for, be it a moment, it shows
 * only 300 ms later.
 */
export function viewCode(): Promise<ViewCode> {
  if (!code) return loadView();
  const here = code;
  const kept = { then: (done: (code: ViewCode) => void) => done(here) };
  return kept as unknown as Promise<ViewCode>; // of a promise, `lazy` needs no more
}
