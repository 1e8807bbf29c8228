/** Whether something has been true once: from then on, what was loaded for it stays. */

import { useRef } from "react";

export function useEver(now: boolean): boolean {
  const ever = useRef(false);
  if (now) ever.current = true;
  return ever.current;
}
