import { describe, expect, it } from "vitest";
import type { JobView } from "../api/client";
import { dictionaries } from "../i18n";
import { ACTIONS, type Action, actionOf, ariaKeys, KEYS, type Situation } from "./keys";

function press(key: string, more: Partial<KeyboardEvent> = {}): Action | null {
  return actionOf({ key, ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, target: null, ...more } as KeyboardEvent);
}

/** Node.js has no document: what the table asks of an element. */
class Field {
  isContentEditable = false;
  type = "text";
}
Object.assign(globalThis, { HTMLElement: Field, HTMLInputElement: Field, HTMLTextAreaElement: class {} });

const job = (more: Partial<JobView> = {}) => ({ state: "paused", reason: "start", connected: true, cursor: null, graphs: ["g"], ...more }) as JobView;
const now = (more: Partial<Situation> = {}): Situation => ({ job: job(), op: null, busy: false, ...more });
const possible = (situation: Situation) => ACTIONS.filter((action) => KEYS[action].possible(situation));

describe("keys", () => {
  it("do what the table says", () => {
    expect(press("F5")).toBe("resume");
    expect(press("F5", { shiftKey: true })).toBe("terminate");
    expect(press("F6")).toBe("pause");
    expect(press("F10")).toBe("next_node");
    expect(press("F10", { shiftKey: true })).toBe("previous_node");
    expect(press("F10", { ctrlKey: true })).toBe("run_to");
    expect(press("/")).toBe("search");
    expect(press("?", { shiftKey: true })).toBe("help"); // Shift makes the character
  });

  it("leave alone what they don't know", () => {
    expect(press("F5", { ctrlKey: true })).toBeNull();
    expect(press("F7")).toBeNull();
    expect(press("/", { ctrlKey: true })).toBeNull();
  });

  it("are characters while one types, and keys still", () => {
    const target = new Field() as unknown as EventTarget;
    expect(press("/", { target })).toBeNull();
    expect(press("?", { target, shiftKey: true })).toBeNull();
    expect(press("F10", { target })).toBe("next_node");
    expect(press("/", { target: Object.assign(new Field(), { type: "checkbox" }) as unknown as EventTarget })).toBe("search");
  });

  it("are each of one action only, with a name in both languages", () => {
    const keys = ACTIONS.map((action) => KEYS[action].key).filter(Boolean);
    expect(new Set(keys).size).toBe(keys.length);
    for (const text of Object.values(dictionaries)) {
      const labels = ACTIONS.map((action) => KEYS[action].label(text));
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.every(Boolean)).toBe(true);
    }
  });

  it("are not possible where the device can't follow", () => {
    const of = (stepping: JobView["stepping"]) => possible(now({ job: job({ stepping }), op: "a" }));
    const nodes = ["next_node", "previous_node", "run_to"] as const;
    expect(nodes.filter((action) => of("recorded").includes(action))).toEqual(nodes);
    expect(nodes.filter((action) => of("forward").includes(action))).toEqual(["next_node", "run_to"]);
    expect(nodes.filter((action) => of("steps").includes(action))).toEqual([]);
    expect(of("steps")).toContain("resume");
  });

  it("are told to screen readers by their full names", () => {
    expect(ariaKeys("run_to")).toBe("Control+F10");
    expect(ariaKeys("current_node")).toBeUndefined();
  });
});

describe("what is possible", () => {
  it("without a training", () => expect(possible(now({ job: null }))).toEqual(["help"]));
  it("while it is paused", () => {
    expect(possible(now())).toEqual([
      "resume", "next_node", "previous_node", "terminate", "new_watchpoint", "recheck", "search", "help",
    ]); // prettier-ignore
    expect(possible(now({ op: "net/a" }))).toContain("run_to");
    expect(possible(now({ job: job({ cursor: { graph: "g", node: "n", position: 1, count: 1, moment: "after" } }) }))).toContain("current_node");
  });
  it("while it runs", () => {
    const running = now({ job: job({ state: "running" }), op: "net/a" });
    expect(possible(running)).toEqual(["pause", "terminate", "new_watchpoint", "search", "help"]);
    expect(possible(now({ job: job({ state: "running", reason: "terminate" }) }))).not.toContain("pause");
  });
  it("while a command is on its way", () => {
    expect(possible(now({ busy: true, op: "net/a" }))).toEqual(["terminate", "new_watchpoint", "search", "help"]);
  });
  it("before there is a graph, after the end, or without a connection", () => {
    expect(possible(now({ job: job({ graphs: [] }) }))).not.toContain("new_watchpoint");
    expect(possible(now({ job: job({ state: "finished", connected: false }) }))).toEqual(["search", "help"]);
    expect(possible(now({ job: job({ connected: false }) }))).toEqual(["new_watchpoint", "search", "help"]);
  });
});
