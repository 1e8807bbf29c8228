import { describe, expect, it } from "vitest";
import { binAt, type Bins, binsOf, binText, drawnEdges, frameOf, heightsAt, marksOf, roundValues, scaledTo, shareOf } from "./bins";

const reals = (low: number, high: number, counts: number[]): Bins => binsOf({ low, high, start: low, end: high, counts })!;

describe("bins", () => {
  it("say what is in them", () => {
    const bins = reals(-1, 1, [3, 4, 5, 6]);
    expect([0, 1, 2, 3].map((at) => binText(bins, at, "float32"))).toEqual(["[-1, -0.5)", "[-0.5, 0)", "[0, 0.5)", "[0.5, 1]"]);
    expect(binText(reals(0.25, 0.25, [9]), 0, "float32")).toBe("0.25");
  });

  it("of integers say which, and not those behind the last one", () => {
    const bins = binsOf({ low: -2, high: 5, start: -2, end: 7, counts: [1, 2, 3] })!;
    expect([0, 1, 2].map((at) => binText(bins, at, "int8"))).toEqual(["-2…0", "1…3", "4…5"]);
    const single = binsOf({ low: 10, high: 12, start: 10, end: 13, counts: [1, 0, 2] })!;
    expect([0, 1, 2].map((at) => binText(single, at, "int64"))).toEqual(["10", "11", "12"]);
  });

  it("of booleans say the words", () => {
    const bins = binsOf({ low: 0, high: 1, start: 0, end: 2, counts: [4, 6] })!;
    expect([0, 1].map((at) => binText(bins, at, "bool"))).toEqual(["False", "True"]);
    const marks = marksOf(bins, frameOf(bins, null), "bool", 8);
    expect(marks).toEqual([{ at: 0.25, label: "False" }, { at: 0.75, label: "True" }]);
  });

  it("are none where no value is finite", () => {
    expect(binsOf({ low: "nan", high: "nan", start: "nan", end: "nan", counts: [] })).toBeNull();
  });

  it("of another histogram are scaled to the same width", () => {
    const scaled = scaledTo(reals(0, 20, [10, 30]), reals(0, 1, [5, 5]));
    expect(scaled?.counts).toEqual([0.5, 1.5]);
  });

  it("are drawn side by side where numbers of that size can't tell their borders apart", () => {
    const bins = binsOf({ low: 2 ** 60, high: 2 ** 60, start: 2 ** 60, end: 2 ** 60, counts: [4, 2, 1] })!;
    const frame = frameOf(bins, null);
    expect(drawnEdges(bins, frame).map((edge) => Math.round(3 * edge))).toEqual([0, 1, 2, 3]);
    expect(binText(bins, 1, "int64")).toBe("1.1529e+18 (2/3)");
    expect(marksOf(bins, frame, "int64", 5)).toHaveLength(2);
    expect(scaledTo(reals(0, 1, [1]), bins)).toBeNull();
  });
});

describe("the drawing", () => {
  it("has both histograms between its edges", () => {
    expect(frameOf(reals(0, 1, [1]), reals(-3, 0.5, [1]))).toMatchObject({ low: -3, high: 1 });
    expect(frameOf(reals(5, 5, [1]), null)).toEqual({ low: 4.5, high: 5.5 });
    expect(frameOf(reals(0, 0, [1]), null)).toEqual({ low: -1, high: 1 });
  });

  it("holds for the largest doubles", () => {
    const frame = frameOf(reals(-Number.MAX_VALUE, Number.MAX_VALUE, [1, 1]), null);
    expect(drawnEdges(reals(-Number.MAX_VALUE, Number.MAX_VALUE, [1, 1]), frame)).toEqual([0, 0.5, 1]);
    expect(roundValues(frame, 5, false)).toEqual([frame.low, 0, frame.high]);
  });

  it("finds the bin at a place, and heights at all edges", () => {
    const edges = [0.2, 0.4, 0.6];
    expect([0.1, 0.2, 0.39, 0.4, 0.6, 0.7].map((share) => binAt(edges, share))).toEqual([null, 0, 0, 1, 1, null]);
    expect(heightsAt([7, 8], edges, [0, 0.2, 0.3, 0.4, 0.6, 0.9])).toEqual([0, 7, 7, 8, 0, 0]);
  });

  it("has round values within", () => {
    const inside = (low: number, high: number) => roundValues({ low, high }, 5, false).map((value) => Number(value.toPrecision(6)));
    expect(inside(-0.013, 0.021)).toEqual([-0.01, 0, 0.01, 0.02]);
    expect(inside(1e30, 3.4e38)).toEqual([1e38, 2e38, 3e38]);
    expect(roundValues({ low: -0.5, high: 2.5 }, 9, true)).toEqual([0, 1, 2]);
    expect(shareOf(1e-320, { low: 0, high: 2e-320 })).toBeCloseTo(0.5, 3);
  });
});
