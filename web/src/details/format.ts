/** Words for types and shapes. */

import type { Texts } from "../i18n";

/** (32, 1, 28, 28); a scalar has the shape (). */
export function shapeText(shape: readonly number[] | null | undefined, text: Texts): string {
  if (!shape) return text.unknownShape;
  if (shape.length === 0) return text.scalar;
  return `[${shape.map((size) => (size < 0 ? "?" : size)).join(", ")}]`;
}
