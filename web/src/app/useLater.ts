/** False in the first picture, true right after: for what may come later, so that it holds up nothing. */

import { startTransition, useEffect, useState } from "react";

export function useLater(): boolean {
  const [isLater, setLater] = useState(false);
  useEffect(() => startTransition(() => setLater(true)), []);
  return isLater;
}
