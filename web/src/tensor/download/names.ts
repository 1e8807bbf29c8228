/** Names of files. */

import type { Shown } from "../parts";

/** Of a picture: what it shows, in characters that every file system takes. */
export function fileName({ place, of, index, job }: Pick<Shown, "place" | "of" | "index" | "job">): string {
  const node = place.node.slice(place.node.lastIndexOf("/") + 1);
  const which = place.input === undefined ? `${place.slot}` : `input${place.input}`;
  const part = index.replaceAll(":", "-").replace(/[^\w-]+/g, "_");
  const name = [node, which, `step${job.step}`, of === "current" ? "" : of, part].filter(Boolean).join("_");
  return `${name.replace(/[^\w.-]+/g, "_")}.png`;
}
