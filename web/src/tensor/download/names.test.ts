import { expect, it } from "vitest";
import type { JobView } from "../../api/client";
import { fileName } from "./names";

const job = { id: "j", step: 7 } as JobView;
const place = { job: "j", graph: "g", node: "Default/net/conv1-Conv2d/Conv2D-op0", slot: 0 };

it("names a picture by what it shows", () => {
  expect(fileName({ job, place, of: "current", index: "0, 3, :, ::2" })).toBe("Conv2D-op0_0_step7_0_3_-_--2.png");
  expect(fileName({ job, place: { ...place, input: 1 }, of: "difference", index: "" })).toBe("Conv2D-op0_input1_step7_difference.png");
});

it("takes only characters of ASCII", () => {
  const odd = { ...place, node: "网络/a b<c>:1" };
  expect(fileName({ job, place: odd, of: "previous", index: ":" })).toMatch(/^[\w.-]+$/);
});
