/** The tensors that were visited, as the browser's history has them: what "back" and "forward" lead to. Pure. */

export interface Trail<T> {
  visited: readonly T[];
  /** Where in it one is; -1 before the first. */
  at: number;
}

export const NO_TRAIL: Trail<never> = { visited: [], at: -1 };

/**
 * The trail once `place` is shown. `isMove`: the browser went back or forward; else it went on from here, and what was
 * ahead is gone.
 */
export function arrive<T>(trail: Trail<T>, place: T, isMove: boolean, isSame: (a: T, b: T) => boolean): Trail<T> {
  const { visited, at } = trail;
  const isAt = (where: number) => visited[where] !== undefined && isSame(visited[where], place);
  if (isAt(at)) return trail;
  if (isMove) {
    const found = [at - 1, at + 1].find(isAt) ?? visited.findIndex((each) => isSame(each, place));
    if (found >= 0) return { visited, at: found };
  }
  return { visited: [...visited.slice(0, at + 1), place], at: at + 1 };
}
