import { describe, expect, it } from "vitest";
import { look } from "./useCamera";

const FRAME = { width: 800, height: 200 };

describe("what of the drawing is in sight", () => {
  it("is all of it, in the middle, where it fits", () => {
    expect(look({ width: 200, height: 100 }, FRAME, undefined)).toEqual({ x: 300, y: 50, zoom: 1 });
  });

  it("is a little smaller where that makes it fit", () => {
    const { zoom } = look({ width: 200, height: 196 }, FRAME, undefined);
    expect(zoom).toBeCloseTo(184 / 196);
  });

  it("is the tensor in the middle where the whole would be too small to read", () => {
    const focus = { x: 100, y: 1000, width: 100, height: 24 };
    const { x, y, zoom } = look({ width: 300, height: 2000 }, FRAME, focus);
    expect(zoom).toBeGreaterThanOrEqual(0.9);
    expect(y + (focus.y + focus.height) * zoom).toBeCloseTo(100, 0);
    expect(x).toBe(Math.round((800 - 300 * zoom) / 2));
  });

  it("wastes no room beyond the borders", () => {
    const focus = { x: 0, y: 0, width: 100, height: 24 };
    expect(look({ width: 300, height: 2000 }, FRAME, focus).y).toBe(8);
  });

  it("is all of it, however small, when one asks for it", () => {
    expect(look({ width: 300, height: 736 }, FRAME, undefined, 0.1).zoom).toBeCloseTo(0.25);
  });
});
