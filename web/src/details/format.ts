/** Words for types and shapes, and for why there is no value. */

import { ApiError } from "../api/client";
import type { Texts } from "../i18n";

/** (32, 1, 28, 28); a scalar has the shape (). */
export function shapeText(shape: readonly number[] | null | undefined, text: Texts): string {
  if (!shape) return text.unknownShape;
  if (shape.length === 0) return text.scalar;
  return `[${shape.map((size) => (size < 0 ? "?" : size)).join(", ")}]`;
}

export function errorText(error: Error, text: Texts): string {
  if (!(error instanceof ApiError)) return error.message;
  const known: Record<string, string> = text.error;
  return known[error.code ?? ""] || error.message || known[error.kind] || error.kind;
}
