/** Pictures for a file: what is on a canvas, with words above it that say what it is. */

import type { Texts } from "../i18n";
import { css, type HeatColours, type Rgb, type Scale } from "./colours";
import type { Shown } from "./parts";

/** A part of the view that can be saved as a picture. */
export interface Pictured {
  picture(): HTMLCanvasElement | null;
}

/** What a colour means. */
export interface Key {
  colour: Rgb;
  words: string;
}

export interface Frame {
  /** The first one stands out. */
  lines: readonly string[];
  colours: HeatColours;
  pixelRatio: number;
  legend?: { scale: Scale; low: string; high: string };
  keys?: readonly Key[];
}

const MARGIN = 12;
const LINE = 18;
const LEGEND = { width: 160, height: 10, room: 26, gap: 6 };
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";

export function framed(content: HTMLCanvasElement, frame: Frame): HTMLCanvasElement {
  const { lines, colours, pixelRatio, legend, keys = [] } = frame;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d")!;
  const heading = lines.length * LINE + 6;
  const hasFoot = legend !== undefined || keys.length > 0;
  context.font = `600 13px ${FONT}`;
  const words = Math.max(...lines.map((line) => context.measureText(line).width), LEGEND.width * 3);
  const width = Math.max(words, content.width / pixelRatio) + 2 * MARGIN;
  const height = heading + content.height / pixelRatio + (hasFoot ? LEGEND.room : 0) + 2 * MARGIN;
  canvas.width = Math.ceil(width * pixelRatio);
  canvas.height = Math.ceil(height * pixelRatio);
  context.scale(pixelRatio, pixelRatio);
  context.fillStyle = css(colours.ground);
  context.fillRect(0, 0, width, height);
  context.textBaseline = "middle";
  lines.forEach((line, at) => {
    context.font = at === 0 ? `600 13px ${FONT}` : `12px ${FONT}`;
    context.fillStyle = css(at === 0 ? colours.ink : colours.dim);
    context.fillText(line, MARGIN, MARGIN + (at + 0.5) * LINE);
  });
  context.drawImage(content, MARGIN, MARGIN + heading, content.width / pixelRatio, content.height / pixelRatio);
  paintFoot(context, frame, height - MARGIN - LEGEND.height);
  return canvas;
}

function paintFoot(context: CanvasRenderingContext2D, { legend, keys = [], colours }: Frame, top: number): void {
  context.font = `12px ${FONT}`;
  let left = MARGIN;
  const write = (words: string) => {
    context.fillStyle = css(colours.dim);
    context.fillText(words, left, top + LEGEND.height / 2);
    left += context.measureText(words).width + LEGEND.gap;
  };
  if (legend) {
    write(legend.low);
    const gradient = context.createLinearGradient(left, 0, left + LEGEND.width, 0);
    for (const [share, colour] of stopsOf(legend.scale, colours)) gradient.addColorStop(share, colour);
    context.fillStyle = gradient;
    context.fillRect(left, top, LEGEND.width, LEGEND.height);
    left += LEGEND.width + LEGEND.gap;
    write(legend.high);
  }
  for (const { colour, words } of keys) {
    left += left > MARGIN ? 2 * LEGEND.gap : 0;
    context.fillStyle = css(colour);
    context.fillRect(left, top, LEGEND.height, LEGEND.height);
    left += LEGEND.height + LEGEND.gap;
    write(words);
  }
}

/** The colours of a scale from its low end, 0, to its high one, 1. */
export function stopsOf({ low, centre, high }: Scale, { below, ground, above }: HeatColours): [share: number, colour: string][] {
  const stops: [number, string][] = [];
  const span = high / 2 - low / 2;
  const middle = span > 0 ? (centre / 2 - low / 2) / span : 0;
  if (low < centre) stops.push([0, css(below)]);
  stops.push([middle, css(ground)]);
  if (high > centre) stops.push([1, css(above)]);
  return stops;
}

export function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no PNG"))), "image/png");
  });
}

/** What the tensor is, in lines above its picture. */
export function headingOf({ place, of, index }: Shown, step: number, text: Texts): string[] {
  const input = place.input === undefined ? `:${place.slot}` : ` · ${text.input} ${place.input}`;
  return [`${place.node}${input}`, `${text.views.pictureOf(step, index)} · ${text.views.step[of]}`];
}
