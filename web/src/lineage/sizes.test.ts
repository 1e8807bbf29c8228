import { describe, expect, it } from "vitest";
import type { Hit } from "../api/watch";
import { nodeLabel, nodeText, slotMark, slotsOf } from "./sizes";
import type { DrawnNode } from "./select";

const node = (id: string, op: string, type: DrawnNode["type"] = "op"): DrawnNode => ({ kind: "node", id, op, type, slots: [0] });
const hit = (slot: number, condition: string, error: Hit["error"] = []) => ({ slot, condition, error }) as Hit;

describe("what stands on a node", () => {
  it.each<[string, DrawnNode, string, string]>([
    ["the op is the beginning of the name", node("Default/net/Conv2D-op12", "Conv2D"), "Conv2D", "-op12"],
    ["whatever its case", node("net/relu_1", "ReLU"), "relu", "_1"],
    ["another name follows it", node("net/hidden", "aten.linear"), "aten.linear", " hidden"],
    ["a parameter is its name alone", node("conv1.weight", "Parameter", "parameter"), "", "conv1.weight"],
  ])("%s", (_, of, op, rest) => expect(nodeText(of)).toEqual({ op, rest }));

  it("is cut where it is very long", () => {
    const { rest, width } = nodeLabel(node(`net/${"very_long_name_".repeat(9)}7`, "Mul"), true);
    expect(rest).toMatch(/….*7$/);
    expect(width).toBeLessThanOrEqual(216);
  });
});

describe("outputs", () => {
  const hits = [hit(1, "to"), hit(1, "tz", ["nan"]), hit(1, "to"), hit(2, "tz", ["nan"])];
  const label = (slot: number) => slotMark(slot, `slot ${slot}`, hits, (condition) => condition.toUpperCase()).label;

  it("carry the abbreviations of what they hit, each once", () => expect(label(1)).toBe("slot 1 [TO]"));
  it("else of what could not be evaluated", () => expect(label(2)).toBe("slot 2 [TZ]"));
  it("else nothing", () => expect(label(0)).toBe("slot 0"));

  it("are all drawn where they are few, else those in use and those that were hit", () => {
    expect(slotsOf(node("a", "A"), [0, 1, 2], [])).toEqual([0, 1, 2]);
    expect(slotsOf(node("a", "A"), [...Array(64).keys()], [hit(9, "to")])).toEqual([0, 9]);
    expect(slotsOf(node("a", "A"), null, [])).toEqual([0]);
  });
});
