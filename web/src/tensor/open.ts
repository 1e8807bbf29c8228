/** Opening and closing the view of a tensor, from anywhere on the page. The focus comes back to where it was. */

import { leaveTensor, showTensor } from "../state/address";
import type { TensorTarget } from "./parts";

let opener: Element | null = null;

/** Shows a tensor over the graph, with an entry of its own in the browser's history. */
export function openTensor({ graph, node, slot, input }: TensorTarget): void {
  if (!document.querySelector("[data-tensor-view]")) opener = document.activeElement;
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

/** The view's code, which comes before it is needed. */
export const loadView = () => import("./TensorView");
