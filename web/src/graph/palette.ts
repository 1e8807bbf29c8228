/** The colours of exported pictures, the same as in the style sheet, and the thickness of lines. */

export interface Palette {
  ground: string;
  card: string;
  ink: string;
  dim: string;
  line: string;
  selected: string;
  current: string;
  forward: string;
  gradient: string;
  optimizer: string;
  op: string;
  parameter: string;
  input: string;
  constant: string;
}

const LIGHT: Palette = {
  ground: "#f8f9fb",
  card: "#ffffff",
  ink: "#1c2430",
  dim: "#5b6675",
  line: "#8a94a3",
  selected: "#d9480f",
  current: "#2b8a3e",
  forward: "#228be6",
  gradient: "#be4bdb",
  optimizer: "#099268",
  op: "#e9edf2",
  parameter: "#fff3bf",
  input: "#d3f9d8",
  constant: "#e9edf2",
};

const DARK: Palette = {
  ...LIGHT,
  ground: "#1a1b1e",
  card: "#2b2d31",
  ink: "#e6e8eb",
  dim: "#a6adb8",
  line: "#727b88",
  selected: "#ff922b",
  current: "#51cf66",
  op: "#3a3e45",
  parameter: "#5c4a13",
  input: "#1f4d2b",
  constant: "#3a3e45",
};

export function colours(isDark: boolean): Palette {
  return isDark ? DARK : LIGHT;
}

/** `share` of the second colour in the first; both as #rrggbb. */
export function mix(first: string, second: string, share: number): string {
  const channel = (colour: string, at: number) => Number.parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(channel(first, at) * (1 - share) + channel(second, at) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** Pixels: a line with a thousand tensors is three times as thick as one with a single one. */
export function thickness({ tensors }: { tensors: number }): number {
  return tensors <= 1 ? 1.2 : Math.min(3.6, 1.2 + 0.8 * Math.log10(tensors));
}
