/** Where the lines between two layers turn: those that overlap on different tracks, crossing as little as can be. */

import type { Hop } from "./courses";

const NEAR = 4; // pixels between the ends of two lines on one track, at least

interface Placed {
  low: number;
  high: number;
  track: number;
  isRight: boolean;
}

/** By line that turns, the number of its track, from the first layer on. */
export function assignTracks(hops: readonly Hop[]): { tracks: Map<Hop, number>; count: number } {
  const start = (hop: Hop) => hop.from.x + hop.leaves;
  const end = (hop: Hop) => hop.to.x + hop.arrives;
  const turning = hops.filter((hop) => start(hop) !== end(hop));
  const rightward = turning.filter((hop) => end(hop) > start(hop)).sort((a, b) => start(b) - start(a));
  const leftward = turning.filter((hop) => end(hop) < start(hop)).sort((a, b) => start(a) - start(b));
  const placed: Placed[] = [];
  const tracks = new Map<Hop, number>();
  let count = 0;
  for (const hop of [...rightward, ...leftward]) {
    const isRight = end(hop) > start(hop);
    const [low, high] = [Math.min(start(hop), end(hop)) - NEAR, Math.max(start(hop), end(hop)) + NEAR];
    const near = placed.filter((other) => other.low < high && low < other.high);
    // One that starts farther back passes below those that it overlaps and that go the same way.
    let track = near.reduce((least, other) => (other.isRight === isRight ? Math.max(least, other.track + 1) : least), 0);
    while (near.some((other) => other.track === track)) track++;
    placed.push({ low, high, track, isRight });
    tracks.set(hop, track);
    count = Math.max(count, track + 1);
  }
  return { tracks, count };
}
