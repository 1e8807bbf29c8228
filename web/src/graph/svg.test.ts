import { describe, expect, it } from "vitest";
import type { Scene, ViewNode } from "./scene";
import { badgeText, cardSize, edgeText, shorten, shownBadges, textWidth } from "./sizes";
import { toSvg } from "./svg";

const node: ViewNode = {
  id: "net/Conv<2>", parent: "", name: "Conv<2>", kind: "node", op: "Conv", role: "forward", nodes: 1, members: 1, parameters: 1,
  categories: [], open: false, total: 0, offset: 0, shown: 0,
  badges: [
    { name: "axis", kind: "constant", input: 2, text: "(1, 2)" },
    { name: "conv.weight & more", kind: "parameter", input: 1, text: "" },
  ],
};

const scene: Scene = {
  direction: "TB", x: 0, y: 0, width: 300, height: 200,
  boxes: [
    { node: { ...node, id: "net", name: "net", kind: "scope", open: true, badges: [] }, depth: 0, x: 0, y: 0, width: 300, height: 200 },
    { node, depth: 1, x: 20, y: 40, width: 200, height: 80 },
  ],
  lines: [
    {
      source: 1, target: 0, path: "M0,0 L10,10", text: "2 tensors", middle: { x: 5, y: 5 }, control: true, isFaint: false, tensors: 2,
      label: { text: "2 tensors", x: 0, y: 0, width: 50, height: 16 },
    },
  ],
};

const options = { isDark: false, selected: "net/Conv<2>", current: null, subtitles: ["", "Conv"], more: (n: number) => `+${n}` };

describe("the SVG file", () => {
  const svg = toSvg(scene, options);
  it("has all boxes, lines, labels and badges", () => {
    expect(svg).toContain("Conv&lt;2&gt;");
    expect(svg).toContain("conv.weight &amp; more");
    expect(svg).toContain("(1, 2)");
    expect(svg).toContain("2 tensors");
    expect(svg).toContain('stroke-dasharray="5 4"');
    expect(svg).toContain('width="348" height="248"');
  });
  it("draws the lines of what is selected in full", () => {
    const faint = { ...scene, lines: scene.lines.map((line) => ({ ...line, isFaint: true })) };
    expect(toSvg(faint, { ...options, selected: null })).toContain("stroke-opacity");
    expect(toSvg(faint, options)).not.toContain("stroke-opacity");
  });
  it("is well-formed", () => {
    const tags = [...svg.matchAll(/<(\/?)([a-z]+)([^<>]*?)(\/?)>/g)];
    const stack: string[] = [];
    for (const [, close, name, , alone] of tags) {
      if (alone) continue;
      if (close) expect(stack.pop()).toBe(name);
      else stack.push(name!);
    }
    expect(stack).toEqual([]);
    expect(svg).not.toMatch(/NaN|undefined/);
  });
  it("has other colours in the dark", () => expect(toSvg(scene, { ...options, isDark: true })).toContain("#1a1b1e"));
});

describe("texts", () => {
  it("are cut in the middle to fit", () => {
    const cut = shorten("network-WithLossCell/SoftmaxCrossEntropy", 13, 120);
    expect(textWidth(cut, 13)).toBeLessThanOrEqual(120);
    expect(cut).toMatch(/^network.*….*Entropy$/);
    expect(shorten("short", 13, 120)).toBe("short");
  });
  it("say what flows", () => {
    const count = (n: number) => `${n} tensors`;
    const edge = { source: 0, target: 1, tensors: 1, control: 0, type: { dtype: "float32", shape: [2, -1] } };
    expect(edgeText(edge, count)).toBe("float32 2×?");
    expect(edgeText({ ...edge, type: null }, count)).toBe("1 tensors");
    expect(edgeText({ ...edge, tensors: 13, type: null }, count)).toBe("13 tensors");
    expect(edgeText({ ...edge, tensors: 0, control: 3, type: null }, count)).toBe("");
  });
  it("put parameters before constants, and count what there is no room for", () => {
    expect(shownBadges(node).shown.map(badgeText)).toEqual(["conv.weight & more", "(1, 2)"]);
    const many = { ...node, badges: Array.from({ length: 9 }, (_, input) => ({ ...node.badges[0]!, input })) };
    expect(shownBadges(many).hidden).toBe(6);
    expect(cardSize(many, "").height).toBeGreaterThan(cardSize(node, "").height);
  });
});
