import { expect, it } from "vitest";
import type { Heatmap } from "../../api/views";
import { dictionaries } from "../../i18n";
import { type Part, partOf } from "../dims";
import { axesOf, inPart, placeText, valueText } from "./reading";

const text = dictionaries.en;

function heatmap(shape: [number, number], rows: number, columns: number, values: number[], flags: number[], dtype = "float32"): Heatmap {
  return { dtype, step: 1, shape, rows, columns, low: 0, high: 1, values: Float32Array.from(values), flags: Uint8Array.from(flags) };
}

const part = (fields: string, shape: number[]) => partOf(fields.split(","), shape) as Part;

it("says which indices of the whole tensor a cell stands for", () => {
  const small = heatmap([4, 6], 2, 2, [1, 2, 3, 4], [0, 0, 0, 0]);
  expect(placeText({ row: 1, column: 0 }, small, part("7, 1:9:2, :", [8, 20, 6]))).toBe("[7, 5…7 (+2), 0…2]");
  const row = heatmap([1, 6], 1, 6, [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]);
  expect(placeText({ row: 0, column: 5 }, row, part("::-1", [6]))).toBe("[0]");
  const one = heatmap([1, 1], 1, 1, [1], [0]);
  expect(placeText({ row: 0, column: 0 }, one, part("2, 3", [4, 4]))).toBe("[2, 3]");
});

it("knows the part's positions with one dimension, and with none", () => {
  expect(inPart(part("0, :, :", [2, 3, 4]), [1, 2])).toEqual([1, 2]);
  expect(inPart(part("0, :", [2, 3]), [0, 2])).toEqual([2]);
  expect(inPart(part("0, 1", [2, 3]), [0, 0])).toEqual([]);
  expect(axesOf(part("0, 1:3", [2, 3])).map(({ start, length }) => [start, length])).toEqual([[0, 1], [1, 2]]);
});

it("says the value of a cell, and what else is in it", () => {
  const exact = heatmap([1, 3], 1, 3, [0.1, NaN, NaN], [0, 1, 4]);
  expect([0, 1, 2].map((column) => valueText({ row: 0, column }, exact, "mean", text))).toEqual(["0.1", "NaN", "-Inf"]);
  const small = heatmap([2, 4], 1, 2, [0.5, NaN], [3, 1]);
  expect(valueText({ row: 0, column: 0 }, small, "extreme", text)).toBe("0.5 (largest magnitude) · contains NaN, Inf");
  expect(valueText({ row: 0, column: 1 }, small, "mean", text)).toBe("contains NaN");
});

it("does not pretend that large integers and booleans are floats", () => {
  const cell = { row: 0, column: 0 };
  expect(valueText(cell, heatmap([1, 1], 1, 1, [1], [0], "bool"), "mean", text)).toBe("True");
  expect(valueText(cell, heatmap([1, 1], 1, 1, [2 ** 30], [0], "int64"), "mean", text)).toMatch(/^≈ /);
});
