/** Words for what failed. */

import { ApiError } from "../api/client";
import type { Texts } from ".";

/** The page's own words for what has a code, else the server's line, else those for the kind of error. */
export function errorText(error: Error, text: Texts): string {
  if (!(error instanceof ApiError)) return error.message;
  const known: Record<string, string> = text.error;
  return known[error.code ?? ""] || error.message || known[error.kind] || error.kind;
}
