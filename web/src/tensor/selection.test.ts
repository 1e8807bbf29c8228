import { expect, it } from "vitest";
import { at, contains, move, rectangleOf, type Selection } from "./selection";

const size = { rows: 100, columns: 10, page: 20 };
const press = (selection: Selection, keys: string): Selection | null => {
  const parts = keys.split("+");
  return move(selection, { key: parts.at(-1) ?? "", ctrl: parts.includes("Ctrl"), shift: parts.includes("Shift") }, size);
};
const middle = at({ row: 50, column: 5 });

it.each<[string, number, number]>([
  ["ArrowUp", 49, 5],
  ["ArrowDown", 51, 5],
  ["ArrowLeft", 50, 4],
  ["ArrowRight", 50, 6],
  ["PageUp", 30, 5],
  ["PageDown", 70, 5],
  ["Home", 50, 0],
  ["End", 50, 9],
  ["Ctrl+Home", 0, 0],
  ["Ctrl+End", 99, 9],
  ["Ctrl+ArrowDown", 99, 5],
  ["Ctrl+ArrowLeft", 50, 0],
])("%s moves the focus", (keys, row, column) => expect(press(middle, keys)).toEqual(at({ row, column })));

it("stays within the table", () => {
  expect(press(at({ row: 0, column: 0 }), "ArrowUp")).toEqual(at({ row: 0, column: 0 }));
  expect(press(at({ row: 95, column: 9 }), "PageDown")).toEqual(at({ row: 99, column: 9 }));
  expect(press(at({ row: 95, column: 9 }), "ArrowRight")).toEqual(at({ row: 95, column: 9 }));
});

it("leaves other keys alone", () => {
  for (const keys of ["x", "Enter", "Ctrl+c", "F10"]) expect(press(middle, keys)).toBeNull();
});

it("extends with Shift, and back over the anchor", () => {
  const down = press(middle, "Shift+ArrowDown") as Selection;
  expect(rectangleOf(down)).toEqual({ top: 50, bottom: 51, left: 5, right: 5 });
  const up = press(down, "Shift+PageUp") as Selection;
  expect(rectangleOf(up)).toEqual({ top: 31, bottom: 50, left: 5, right: 5 });
  expect(press(up, "ArrowDown")).toEqual(at({ row: 32, column: 5 }));
});

it("selects all", () => {
  const all = rectangleOf(press(middle, "Ctrl+a") as Selection);
  expect(all).toEqual({ top: 0, bottom: 99, left: 0, right: 9 });
  expect(contains(all, 99, 9)).toBe(true);
  expect(contains(rectangleOf(middle), 50, 6)).toBe(false);
});
