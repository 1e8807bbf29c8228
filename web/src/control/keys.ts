/**
 * All that can be commanded, in one typed table. It feeds the keys, the buttons and the help: an action that is not here
 * does not exist, and its key, label and rule when it is possible stand in one line.
 */

import type { JobView } from "../api/client";
import type { Texts } from "../i18n";
import { hasEnded, isTerminating } from "../state/job";

export const ACTIONS = [
  "resume", "pause", "next_node", "previous_node", "run_to", "terminate", "current_node",
  "new_watchpoint", "recheck", "search", "help",
] as const; // prettier-ignore

export type Action = (typeof ACTIONS)[number];

/** What the rules look at. */
export interface Situation {
  job: JobView | null;
  /** Full name of the selected op, if one is selected. */
  op: string | null;
  /** A command is on its way to the server. */
  busy: boolean;
}

export interface ActionRow {
  /** As `event.key` has it, with modifiers in front: "Shift+F5". Empty: no key. */
  key: string;
  label(text: Texts): string;
  possible(situation: Situation): boolean;
}

const paused = ({ job, busy }: Situation): boolean => !busy && job?.state === "paused" && job.connected;
// Of MindSpore's own debugger clients some go forward only, and some by whole steps.
const goesNodeByNode = (now: Situation): boolean => paused(now) && now.job?.stepping !== "steps";
const goesBack = (now: Situation): boolean => goesNodeByNode(now) && now.job?.stepping !== "forward";
const always = (): boolean => true;

export const KEYS: Record<Action, ActionRow> = {
  resume: { key: "F5", label: (text) => text.resume, possible: paused },
  pause: {
    key: "F6",
    label: (text) => text.pause,
    possible: ({ job, busy }) => !busy && job?.state === "running" && job.connected && !isTerminating(job),
  },
  next_node: { key: "F10", label: (text) => text.nextNode, possible: goesNodeByNode },
  previous_node: { key: "Shift+F10", label: (text) => text.previousNode, possible: goesBack },
  run_to: { key: "Ctrl+F10", label: (text) => text.runTo, possible: (now) => goesNodeByNode(now) && now.op !== null },
  terminate: {
    key: "Shift+F5",
    label: (text) => text.terminate,
    possible: ({ job }) => job !== null && !hasEnded(job) && job.connected,
  },
  current_node: { key: "", label: (text) => text.currentNode, possible: ({ job }) => Boolean(job?.cursor) },
  new_watchpoint: {
    key: "F9",
    label: (text) => text.watch.addOnSelected,
    possible: ({ job }) => job !== null && !hasEnded(job) && job.graphs.length > 0,
  },
  recheck: { key: "Shift+F9", label: (text) => text.watch.recheck, possible: paused },
  search: { key: "/", label: (text) => text.search, possible: ({ job }) => job !== null },
  help: { key: "?", label: (text) => text.help, possible: always },
};

const BY_KEY = new Map(ACTIONS.filter((action) => KEYS[action].key).map((action) => [KEYS[action].key, action]));

/** The action of a key press, or null. Characters do nothing while one types. */
export function actionOf(event: KeyboardEvent): Action | null {
  const isCharacter = event.key.length === 1;
  if (isCharacter && (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey)) return null;
  const modifiers = isCharacter
    ? ""
    : `${event.ctrlKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${event.metaKey ? "Meta+" : ""}${event.shiftKey ? "Shift+" : ""}`;
  return BY_KEY.get(modifiers + event.key) ?? null;
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "radio" && target.type !== "checkbox"))
  );
}

/** For the attribute `aria-keyshortcuts`. */
export function ariaKeys(action: Action): string | undefined {
  return KEYS[action].key.replace("Ctrl", "Control") || undefined;
}
