/**
 * Deep links: `#/job/ID`, `#/job/ID/node/NAME`, `#/job/ID/scope/PATH`, `#/job/ID/tensor/NAME/SLOT`, with `?graph=NAME`
 * where it is not the first one, and `input=N` for what a node read.
 *
 * The address changes with each selection (a new entry in the history) and the view follows the address, so that the
 * browser's back and forward work. Names keep their slashes.
 */

import type { Selection } from "../graph/contract";
import { format, parse, type Place, type TensorName } from "./place";
import { useView, view } from "./view";

export { format, parse, type Place };

/** Puts the view where the address is, and keeps it there. Returns how to stop. */
export function followAddress(): () => void {
  const read = () => {
    const place = parse(location.hash);
    if (place.job !== null && place.tensor) return view.showTensor(place.job, place.graph, place.tensor);
    view.show(place.job, place.graph ?? (place.job === useView.getState().job ? useView.getState().graph : null), place.selected);
  };
  read();
  window.addEventListener("hashchange", read);
  window.addEventListener("popstate", read);
  return () => {
    window.removeEventListener("hashchange", read);
    window.removeEventListener("popstate", read);
  };
}

/** Notes in the address where the view is; `replace` leaves no entry in the history. */
export function note(replace = false): void {
  const { job, graph, selected } = useView.getState();
  write({ job, graph, selected }, replace);
}

function write(place: Place, replace: boolean): void {
  const hash = format(place);
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
}

/** Goes to another place, or to the start page. */
export function go(place: Place, replace = false): void {
  write(place, replace);
  view.show(place.job, place.graph, place.selected);
}

/** Select what is in sight. */
export function select(selected: Selection | null): void {
  view.select(selected);
  note();
}

/** Select and bring into the picture. `graph` where it is another one; `replace` leaves no entry in the history. */
export function reveal(selected: Selection, graph?: string, replace = false): void {
  const state = useView.getState();
  if (graph !== undefined && graph !== state.graph) {
    go({ job: state.job, graph, selected }, replace);
    return;
  }
  view.reveal(selected);
  note(replace);
}

/** Looks at a tensor of the present job; the graph and the lists stay as they are behind it. */
export function showTensor(graph: string | null, tensor: TensorName): void {
  const { job } = useView.getState();
  if (job === null) return;
  write({ job, graph, selected: null, tensor }, false);
  view.showTensor(job, graph, tensor);
}

/** Back to the graph, with the tensor's node selected. */
export function leaveTensor(): void {
  const { tensor, selected, graph } = useView.getState();
  if (!tensor) return;
  const node: Selection = { kind: "node", name: tensor.node };
  const isThere = selected?.name === tensor.node && (tensor.graph === null || tensor.graph === graph);
  if (isThere) select(node);
  else reveal(node, tensor.graph ?? undefined);
}
