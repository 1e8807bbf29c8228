/**
 * Deep links: `#/job/ID`, `#/job/ID/node/NAME`, `#/job/ID/scope/PATH`, with `?graph=NAME` where it is not the first one.
 *
 * The address changes with each selection (a new entry in the history) and the view follows the address, so that the
 * browser's back and forward work. Names keep their slashes.
 */

import type { Selection } from "../graph/contract";
import { format, parse, type Place } from "./place";
import { useView, view } from "./view";

export { format, parse, type Place };

/** Puts the view where the address is, and keeps it there. Returns how to stop. */
export function followAddress(): () => void {
  const read = () => {
    const place = parse(location.hash);
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
  const hash = format({ job, graph, selected });
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
}

/** Goes to another place, or to the start page. */
export function go(place: Place, replace = false): void {
  const hash = format(place);
  if (hash !== location.hash) {
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }
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
