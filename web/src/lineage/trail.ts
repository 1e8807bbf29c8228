/** The tensors that were visited, as the browser's history has them: what "back" and "forward" lead to. Pure. */

export interface Trail<T> {
  visited: readonly T[];
  /** Where in it one is; -1 before the first. */
  at: number;
}

export const NO_TRAIL: Trail<never> = { visited: [], at: -1 };

/**
 * The trail once `place` is shown. `known`: where in the trail this entry of the browser's history stands, if it has one:
 * the browser went back or forward. Else it went on from here, and what was ahead is gone.
 */
export function arrive<T>(trail: Trail<T>, place: T, known: number | null, isSame: (a: T, b: T) => boolean): Trail<T> {
  const { visited, at } = trail;
  const isAt = (where: number) => visited[where] !== undefined && isSame(visited[where], place);
  if (known !== null && isAt(known)) return { visited, at: known };
  if (isAt(at)) return trail;
  return { visited: [...visited.slice(0, at + 1), place], at: at + 1 };
}
