/** A scene as a picture file: SVG drawn from the scene alone, and PNG from that. */

import { linesAt, placesOf } from "./find";
import { colours, mix, type Palette, thickness } from "./palette";
import type { Box, Line, Scene } from "./scene";
import { BADGE_SPACE, badgeText, HEADER, LABEL_SIZE, NAME_SIZE, shorten, shownBadges, SMALL_SIZE, textWidth, title } from "./sizes";

const MARGIN = 24;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
const MOST_PIXELS = 8000; // of a side: what all browsers can draw

export interface PictureOptions {
  isDark: boolean;
  selected: string | null;
  current: string | null;
  /** What stands below the names, by box. */
  subtitles: readonly string[];
  more(count: number): string;
}

export function toSvg(scene: Scene, options: PictureOptions): string {
  const palette = colours(options.isDark);
  const [width, height] = [Math.ceil(scene.width) + 2 * MARGIN, Math.ceil(scene.height) + 2 * MARGIN];
  const open = scene.boxes.filter((box) => box.node.open);
  const places = placesOf(scene);
  const selected = options.selected === null ? undefined : places.get(options.selected);
  const { into, out } = selected === undefined ? { into: [], out: [] } : linesAt(scene, places, selected);
  const own = new Set([...into, ...out]); // lines of what is selected are never faint
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" font-family="${FONT}">`,
    `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5 8 4 0 7.5z" fill="${palette.line}"/></marker></defs>`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" fill="${palette.ground}"/>`,
    ...open.map((box) => frame(box, palette, options)),
    ...scene.lines.map((line) => lineOf(line, palette, own.has(line))),
    ...scene.boxes.flatMap((box, place) => (box.node.open ? [] : [card(box, options.subtitles[place] ?? "", palette, options)])),
    ...scene.lines.map((line) => labelOf(line, palette)),
    "</svg>",
  ].join("\n");
}

function border(box: Box, palette: Palette, options: PictureOptions): string {
  const role = palette[box.node.role];
  if (box.node.id === options.selected) return `stroke="${palette.selected}" stroke-width="3"`;
  if (box.node.id === options.current) return `stroke="${palette.current}" stroke-width="2.5"`;
  return `stroke="${role}" stroke-width="1"`;
}

function frame(box: Box, palette: Palette, options: PictureOptions): string {
  const role = palette[box.node.role];
  const dashed = box.node.kind === "stack" ? ` stroke-dasharray="5 4"` : "";
  return (
    `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="6" fill="${role}" fill-opacity="0.04" ${border(box, palette, options)}${dashed}/>` +
    text(box.x + 10, box.y + HEADER / 2 + 4, shorten(title(box.node), NAME_SIZE, box.width - 20), NAME_SIZE, palette.ink, `font-weight="500"`)
  );
}

function card(box: Box, below: string, palette: Palette, options: PictureOptions): string {
  const { node, x, y, width, height } = box;
  const role = palette[node.role];
  const isOp = node.kind === "node";
  const fill = isOp ? palette.card : mix(palette.card, role, 0.14);
  const shape = (shift: number) =>
    `<rect x="${x + shift}" y="${y + shift}" width="${width}" height="${height}" rx="${isOp ? 14 : 5}" fill="${fill}" ${border(box, palette, options)}/>`;
  const { shown, hidden } = shownBadges(node);
  const parts = node.kind === "stack" ? [shape(6), shape(3), shape(0)] : [shape(0)];
  parts.push(text(x + 10, y + 19, shorten(title(node), NAME_SIZE, width - 20), NAME_SIZE, palette.ink, `font-weight="500"`));
  if (below) parts.push(text(x + 10, y + 34, shorten(below, SMALL_SIZE, width - 18), SMALL_SIZE, palette.dim));
  let row = y + (below ? 41 : 26);
  for (const badge of shown) {
    const words = shorten(badgeText(badge), SMALL_SIZE, width - BADGE_SPACE);
    const wide = Math.min(width - 18, textWidth(words, SMALL_SIZE) + 12);
    parts.push(
      `<rect x="${x + 8}" y="${row}" width="${wide}" height="15" rx="7" fill="${palette[badge.kind]}"/>`,
      text(x + 14, row + 11, words, SMALL_SIZE, palette.ink),
    );
    row += 17;
  }
  if (hidden > 0) parts.push(text(x + 10, row + 11, options.more(hidden), SMALL_SIZE, palette.dim));
  return parts.join("");
}

function lineOf(line: Line, palette: Palette, isOwn: boolean): string {
  const dashed = line.control ? ` stroke-dasharray="5 4"` : "";
  const faint = line.isFaint && !isOwn ? ` stroke-opacity="0.35"` : "";
  return `<path d="${line.path}" fill="none" stroke="${palette.line}" stroke-width="${thickness(line)}"${dashed}${faint} marker-end="url(#arrow)"/>`;
}

function labelOf({ label }: Line, palette: Palette): string {
  if (!label) return "";
  const halo = `text-anchor="middle" stroke="${palette.ground}" stroke-width="3" paint-order="stroke"`;
  return text(label.x + label.width / 2, label.y + label.height - 4, label.text, LABEL_SIZE, palette.dim, halo);
}

function text(x: number, y: number, words: string, size: number, fill: string, more = ""): string {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" ${more}>${escape(words)}</text>`;
}

function escape(words: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return words.replace(/[\u0000-\u0008\u000b-\u001f]/g, "").replace(/[&<>"]/g, (char) => entities[char]!);
}

export interface Png {
  blob: Blob;
  isScaledDown: boolean;
}

/** Twice the size of the SVG, or as large as browsers can draw. */
export async function toPng(svg: string, scene: Scene): Promise<Png> {
  const [width, height] = [scene.width + 2 * MARGIN, scene.height + 2 * MARGIN];
  const scale = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height);
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("the browser made no PNG");
    return { blob, isScaledDown: scale < 1 };
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
