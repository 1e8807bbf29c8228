import { describe, expect, it } from "vitest";
import { rounded, throughGroup } from "./routes";

/** The corners of a path, as far as they are straight. */
const ends = (path: string) => path.match(/-?[\d.]+,-?[\d.]+/g)!.map((point) => point.split(",").map(Number));

describe("ways", () => {
  it("have round corners and no pieces without length", () => {
    expect(rounded([{ x: 0, y: 0 }, { x: 0, y: 0 }, { x: 0, y: 20 }, { x: 0, y: 20 }])).toBe(" L0,20"); // prettier-ignore
    expect(rounded([{ x: 0, y: 0 }, { x: 0, y: 20 }, { x: 30, y: 20 }])).toBe(" L0,14 Q0,20 6,20 L30,20"); // prettier-ignore
  });

  it("end along the flow, also where the last piece is a point", () => {
    const trunk = [{ x: 10, y: 0 }, { x: 10, y: 40 }]; // prettier-ignore
    const inner = [{ x: 12, y: 80 }, { x: 12, y: 80 }]; // prettier-ignore
    const path = throughGroup([trunk, inner], null, null, "DOWN");
    const [before, last] = ends(path).slice(-2);
    expect(last).toEqual([12, 80]);
    expect(last![1]! - before![1]!).toBeGreaterThan(8);
    expect(path).not.toContain("Q"); // two pixels aside are no corner
  });

  it("turn where they go on farther aside", () => {
    const path = throughGroup([[{ x: 0, y: 0 }, { x: 0, y: 40 }], [{ x: 50, y: 80 }, { x: 50, y: 100 }]], null, null, "DOWN"); // prettier-ignore
    expect(path.match(/Q/g)).toHaveLength(2);
    expect(ends(path).at(-1)).toEqual([50, 100]);
  });
});
