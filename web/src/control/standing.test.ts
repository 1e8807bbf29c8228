import { afterEach, describe, expect, it } from "vitest";
import type { JobView } from "../api/client";
import { sideOf, useStanding } from "./standing";

const live = { stepping: "live" } as JobView;
const recorded = { stepping: "recorded" } as JobView;

describe("the side of a node", () => {
  afterEach(() => useStanding.setState({ side: "after" }));

  it("is behind it unless something else is chosen", () => expect(sideOf(live)).toEqual({}));

  it("is told of a live training only", () => {
    useStanding.setState({ side: "before" });
    expect(sideOf(live)).toEqual({ before: true });
    expect(sideOf(recorded)).toEqual({});
    expect(sideOf(null)).toEqual({});
  });
});
