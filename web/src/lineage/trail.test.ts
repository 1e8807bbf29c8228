import { describe, expect, it } from "vitest";
import { arrive, NO_TRAIL, type Trail } from "./trail";

const go = (moves: string): Trail<string> =>
  [...moves.matchAll(/(<?)(\w)/g)].reduce<Trail<string>>(
    (trail, [, back, place]) => arrive(trail, place!, back === "<", (a, b) => a === b),
    NO_TRAIL,
  );

describe("the trail of tensors", () => {
  it.each([
    ["a", "a", 0],
    ["a a", "a", 0], // shown again
    ["a b c", "abc", 2],
    ["a b c <b", "abc", 1],
    ["a b c <b <a <b", "abc", 1],
    ["a b c <b d", "abd", 2], // on from there: what was ahead is gone
    ["a b a", "aba", 2], // gone to, not gone back to
    ["a b a <b <a", "aba", 0],
    ["a b c <a", "abc", 0], // two back at once
    ["b <a", "ba", 1], // to where this page was not
  ])("%s", (moves, visited, at) => {
    const trail = go(moves);
    expect([trail.visited.join(""), trail.at]).toEqual([visited, at]);
  });
});
