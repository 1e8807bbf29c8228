/** The colours of a heat map: orange below the centre of the scale, teal above, NaN and Inf in colours of their own. */

import type { Real } from "../api/client";

export type Rgb = readonly [red: number, green: number, blue: number];

export interface HeatColours {
  ground: Rgb;
  below: Rgb;
  above: Rgb;
  nan: Rgb;
  infinite: Rgb;
  ink: Rgb;
  dim: Rgb;
}

const LIGHT: HeatColours = {
  ground: [255, 255, 255],
  below: [214, 97, 0],
  above: [0, 118, 130],
  nan: [180, 35, 24],
  infinite: [123, 44, 191],
  ink: [28, 36, 48],
  dim: [86, 94, 102],
};

const DARK: HeatColours = {
  ground: [27, 32, 39],
  below: [255, 150, 60],
  above: [54, 202, 216],
  nan: [240, 68, 56],
  infinite: [178, 92, 240],
  ink: [230, 232, 235],
  dim: [169, 177, 186],
};

export function heatColours(isDark: boolean): HeatColours {
  return isDark ? DARK : LIGHT;
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** What is in a cell besides finite values, as the server says it. */
export const NAN = 1;
export const POSITIVE_INF = 2;
export const NEGATIVE_INF = 4;

/** The centre has no colour; `low` and `high` have all of it. */
export interface Scale {
  low: number;
  centre: number;
  high: number;
}

/** "zero": colour says the sign. "middle": it tells values apart that are all far from zero. */
export type Centre = "zero" | "middle";

/** Null where there is no finite value. */
export function scaleOf(low: Real, high: Real, centre: Centre): Scale | null {
  if (typeof low !== "number" || typeof high !== "number") return null;
  if (centre === "middle") return { low, centre: low / 2 + high / 2, high };
  return { low: Math.min(0, low), centre: 0, high: Math.max(0, high) };
}

/** From −1 at `low` (all orange) over 0 to 1 at `high` (all teal). */
export function shareOf(value: number, { low, centre, high }: Scale): number {
  if (value === centre) return 0;
  // Halves, since the distance of two finite numbers may be none.
  if (value < centre) return low < centre ? -Math.min(1, (centre / 2 - value / 2) / (centre / 2 - low / 2)) : 0;
  return high > centre ? Math.min(1, (value / 2 - centre / 2) / (high / 2 - centre / 2)) : 0;
}

const LEVELS = 255;

function mixed(from: Rgb, to: Rgb, share: number): Rgb {
  const channel = (at: 0 | 1 | 2) => Math.round(from[at] * (1 - share) + to[at] * share);
  return [channel(0), channel(1), channel(2)];
}

/** One 32-bit pixel, as ImageData has it on a little-endian machine (all that browsers run on). */
function pixel([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The colour of each cell, one 32-bit pixel each. */
export function pixelsOf(values: Float32Array, flags: Uint8Array, scale: Scale | null, colours: HeatColours): Uint32Array<ArrayBuffer> {
  const table = Uint32Array.from({ length: 2 * LEVELS + 1 }, (_, level) => {
    const share = level / LEVELS - 1;
    return pixel(mixed(colours.ground, share < 0 ? colours.below : colours.above, Math.abs(share)));
  });
  const [nan, infinite, ground] = [pixel(colours.nan), pixel(colours.infinite), pixel(colours.ground)];
  const pixels = new Uint32Array(values.length);
  for (let at = 0; at < values.length; at++) {
    const flag = flags[at]!;
    if (flag & NAN) pixels[at] = nan;
    else if (flag) pixels[at] = infinite;
    else if (scale) pixels[at] = table[Math.round((shareOf(values[at]!, scale) + 1) * LEVELS)]!;
    else pixels[at] = ground;
  }
  return pixels;
}
