/** Whose values are shown: this step's to begin with, and where there is no other one. */

import { useState } from "react";
import type { JobView } from "../api/client";
import type { Of } from "./parts";

export function useOf(job: JobView): { of: Of; setOf(of: Of): void } {
  const [of, setOf] = useState<Of>("current");
  return { of: job.step === 0 ? "current" : of, setOf };
}
