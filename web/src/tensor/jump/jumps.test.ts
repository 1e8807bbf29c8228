import { expect, it } from "vitest";
import { type Jump, JUMPS, jumpOf, keyLabel } from "./jumps";

const press = (key: string, held: Partial<Record<"ctrlKey" | "altKey" | "metaKey" | "shiftKey", boolean>> = {}) =>
  jumpOf({ key, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, ...held });

it("reads the keys that the menu shows", () => {
  for (const what of JUMPS) {
    for (const isWhole of [false, true]) {
      const label = keyLabel({ what, isWhole });
      const key = label.at(-1)!;
      const expected: Jump = { what, isWhole };
      expect(press(isWhole ? key : key.toLowerCase(), { shiftKey: isWhole })).toEqual(expected);
    }
  }
});

it("leaves the browser's own keys alone", () => {
  expect(press("n", { ctrlKey: true })).toBeNull();
  expect(press("x", { metaKey: true })).toBeNull();
  expect(press("q")).toBeNull();
});
