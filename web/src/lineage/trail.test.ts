import { describe, expect, it } from "vitest";
import { arrive, NO_TRAIL, type Trail } from "./trail";

/** "b" goes on to b, "b0" goes to the entry of the history that stands at 0. */
const go = (moves: string): Trail<string> =>
  [...moves.matchAll(/([a-z])(\d?)/g)].reduce<Trail<string>>(
    (trail, [, place, known]) => arrive(trail, place!, known ? Number(known) : null, (a, b) => a === b),
    NO_TRAIL,
  );

describe("the trail of tensors", () => {
  it.each([
    ["a", "a", 0],
    ["a a", "a", 0], // shown again
    ["a b c", "abc", 2],
    ["a b c b1", "abc", 1],
    ["a b c b1 a0 b1", "abc", 1],
    ["a b c b1 d", "abd", 2], // on from there: what was ahead is gone
    ["a b a", "aba", 2], // gone to, not gone back to
    ["a b c b1 a", "aba", 2],
    ["a b a b1 a0", "aba", 0],
    ["a b c a0", "abc", 0], // two back at once
    ["b a5", "ba", 1], // to where this page was not
  ])("%s", (moves, visited, at) => {
    const trail = go(moves);
    expect([trail.visited.join(""), trail.at]).toEqual([visited, at]);
  });
});
