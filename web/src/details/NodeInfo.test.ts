import { expect, it } from "vitest";
import { dictionaries } from "../i18n";
import { attributesOrigin } from "./NodeInfo";

const { en, zh } = dictionaries;
const live = (step: number) => ({ stepping: "live" as const, step });
const node = (step: number | null, attributes = { alpha: -0.1 }) => ({ attributes, attributes_step: step });

it("says of which step attributes are that are not of the present one", () => {
  expect(attributesOrigin(live(7), node(7), en)).toBeNull();
  expect(attributesOrigin(live(1007), node(2), en)).toBe("as in step 2");
  expect(attributesOrigin(live(1007), node(2), zh)).toBe("轮次 2 的值");
});

it("says so where no step is known, unless they never change", () => {
  expect(attributesOrigin(live(7), node(null), en)).toBe(en.attributesOfGraph);
  expect(attributesOrigin({ stepping: "recorded", step: 7 }, node(null), en)).toBeNull();
  expect(attributesOrigin(live(7), { attributes: {}, attributes_step: null }, en)).toBeNull();
});
