/**
 * What the page and the canvas agree on.
 *
 * The page (app/) owns the state, in the store of `state/view.ts`; the canvas (graph/) draws it and tells of wishes.
 * The canvas never asks for commands on its own and never changes the address: all goes through the callbacks.
 *
 * GraphView is the default export of `graph/GraphView.tsx`: `React.FC<GraphViewProps>`. It fills its parent (the parent
 * has a size, `position: relative`). Light or dark: Mantine's `useComputedColorScheme()`, colours as CSS variables of
 * Mantine. Texts: `useText()` of `i18n/`, whose keys for the canvas stand in `graph/text.ts` (en and zh, yours).
 * Data: `api` of `api/client.ts` (openapi-fetch) with TanStack Query; types from `api/types.ts`.
 * Answers for a graph are stale when `graphRevision` changes: make it part of each query key and of each cache key.
 */

import type { components } from "../api/types";

export type JobView = components["schemas"]["JobView"];

/** What is selected: a scope by its path, or a node (op, parameter, input, constant) by its full name. */
export interface Selection {
  kind: "scope" | "node";
  name: string;
}

/** A wish to bring something into the picture, open scopes included; `serial` rises with each wish. */
export interface Reveal {
  name: string;
  serial: number;
}

/** What can be done with a node from the canvas (right click and the visible button). */
export interface GraphCommands {
  /** Whether the training is paused so that it can be sent somewhere. */
  canRun: boolean;
  /** Run to this op. The page sends the command and shows errors. */
  runTo(node: string): void;
  /** Make a watchpoint on it; null where that is not possible. */
  watch: ((selection: Selection) => void) | null;
  /** Scroll the node list there, open it on the way, and put the focus on it. */
  showInList(name: string): void;
  /** Put text on the clipboard and say so. */
  copy(text: string): void;
}

export interface GraphViewProps {
  job: JobView;
  /** Name of the graph that is shown; one of job.graphs. */
  graph: string;
  /** Changes when the server got a new graph of this name. */
  graphRevision: number;
  selected: Selection | null;
  /** Full name of the node at which the step stands, if it is in this graph. */
  current: string | null;
  /** Full names of nodes that are marked as hit. */
  hits: ReadonlySet<string>;
  /** Paths of all open scopes ("" is not among them: the root is always open). A stack of siblings opens by its key,
   * which the canvas makes (any string with a NUL in front); the page only keeps it. */
  openScopes: ReadonlySet<string>;
  /** Open what is closed above it, then centre it at a readable zoom. The page has opened the scopes above already. */
  reveal: Reveal | null;
  commands: GraphCommands;
  onSelect(selection: Selection | null): void;
  onOpenChange(path: string, open: boolean): void;
  /** Replace the whole set: collapse all = empty, open alone = the scope and those above it. */
  onOpenScopes(paths: Iterable<string>): void;
}

/** All scopes above a full name, outermost first: "a/b/c" → ["a", "a/b"]. */
export function scopesAbove(name: string): string[] {
  const paths: string[] = [];
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) paths.push(name.slice(0, at));
  return paths;
}
