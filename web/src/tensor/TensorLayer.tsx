/** The debugger's columns, and the view of a tensor over them where one is open: they stay as they are behind it. */

import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef } from "react";
import type { JobView } from "../api/client";
import { useView } from "../state/view";
import { loadView, returnFocus } from "./open";
import type { TensorTarget } from "./parts";

const TensorView = lazy(loadView);

export function TensorLayer({ job, children }: { job: JobView; children: ReactNode }) {
  const tensor = useView((state) => state.tensor);
  const target = useMemo<TensorTarget | null>(() => tensor && { ...tensor, graph: tensor.graph ?? "" }, [tensor]);
  useLoading();
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && !target) returnFocus();
    wasOpen.current = target !== null;
  }, [target]);
  return (
    <div className="ss-stage">
      <div className="ss-columns" inert={target !== null}>{children}</div>
      {target && (
        <Suspense fallback={<div className="ss-tensor" />}>
          <TensorView key={JSON.stringify(target)} job={job} target={target} />
        </Suspense>
      )}
    </div>
  );
}

/** Gets the view's code when the page has nothing else to do. */
function useLoading(): void {
  useEffect(() => {
    const load = () => void loadView().catch(() => undefined); // it is asked for again when it is needed
    if (!("requestIdleCallback" in window)) {
      const timer = setTimeout(load, 2000);
      return () => clearTimeout(timer);
    }
    const wish = requestIdleCallback(load, { timeout: 5000 });
    return () => cancelIdleCallback(wish);
  }, []);
}
