/** What stands around the values: the guide at their left, the lineage below. Both can be closed, and come when they are there. */

import { Button } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { JobView } from "../api/client";
import type { TensorPlace } from "../api/queries";
import { DownIcon, LeftIcon, RightIcon, UpIcon } from "../app/icons";
import { Splitter } from "../app/Splitter";
import { Toggle } from "../app/Toggle";
import { useText } from "../i18n";
import { traceShown } from "../lineage/state";
import { useLayout } from "../state/layout";
import { openTensor } from "./open";
import type { TensorTarget } from "./parts";

const GuidePanel = lazy(() => import("./guide/GuidePanel"));
const LineagePanel = lazy(() => import("../lineage/LineagePanel"));

export function GuideSide({ job, place, hasValues }: { job: JobView; place: TensorPlace; hasValues: boolean }) {
  const text = useText().tensor;
  const { guideWidth, isGuideOpen, set } = useLayout();
  const trace = () => {
    set({ isLineageOpen: true });
    traceShown();
  };
  if (!isGuideOpen) {
    return (
      <div className="ss-tensor-edge">
        <Toggle label={text.showGuide} handle="left" icon={<RightIcon size={12} />} onClick={() => set({ isGuideOpen: true })} />
      </div>
    );
  }
  return (
    <>
      <aside className="ss-tensor-side" style={{ width: guideWidth }}>
        <h2>{text.guide}</h2>
        <Toggle label={text.hideGuide} isOpen icon={<LeftIcon size={12} />} onClick={() => set({ isGuideOpen: false })} />
        <Suspense><GuidePanel job={job} place={place} hasValues={hasValues} onOpen={openTensor} onTrace={trace} /></Suspense>
      </aside>
      <Splitter
        axis="x" label={text.resizeGuide} value={guideWidth} min={200} max={520} onChange={(value) => set({ guideWidth: value })}
      />
    </>
  );
}

export function LineageBelow({ job, target }: { job: JobView; target: TensorTarget }) {
  const text = useText().tensor;
  const { lineageHeight, isLineageOpen, set } = useLayout();
  if (!isLineageOpen) {
    return (
      <Button
        className="ss-tensor-foot" size="compact-xs" variant="default" fullWidth leftSection={<UpIcon size={12} />}
        aria-expanded={false} onClick={() => set({ isLineageOpen: true })}
      >
        {text.showLineage}
      </Button>
    );
  }
  return (
    <>
      <Splitter
        axis="y" label={text.resizeLineage} value={lineageHeight} min={120} max={600}
        onChange={(value) => set({ lineageHeight: value })}
      />
      <div className="ss-tensor-below" style={{ height: lineageHeight }}>
        <Toggle label={text.hideLineage} isOpen icon={<DownIcon size={12} />} onClick={() => set({ isLineageOpen: false })} />
        <Suspense><LineagePanel job={job} {...target} onOpen={openTensor} /></Suspense>
      </div>
    </>
  );
}
