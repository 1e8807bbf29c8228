/** The values that one can jump to: in the part shown, and, with Shift, in the whole tensor. */

export const JUMPS = ["nonfinite", "max", "min"] as const;

export type JumpKind = (typeof JUMPS)[number];

/** As `event.key` has it without Shift. */
export const JUMP_KEYS: Record<JumpKind, string> = { nonfinite: "n", max: "x", min: "i" };

export interface Jump {
  what: JumpKind;
  isWhole: boolean;
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "shiftKey">;

/** The jump of a key press, or null. */
export function jumpOf({ key, ctrlKey, altKey, metaKey, shiftKey }: Pressed): Jump | null {
  if (ctrlKey || altKey || metaKey) return null;
  const what = JUMPS.find((each) => JUMP_KEYS[each] === key.toLowerCase());
  return what ? { what, isWhole: shiftKey } : null;
}

/** For the eye: "N", "Shift+N". */
export function keyLabel({ what, isWhole }: Jump): string {
  return `${isWhole ? "Shift+" : ""}${JUMP_KEYS[what].toUpperCase()}`;
}
