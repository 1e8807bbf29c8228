/** The left panel above the control: nodes or hits, as two tabs, and the watchpoints below. */

import "./watch.css";
import { ActionIcon, Tabs } from "@mantine/core";
import { lazy, Suspense, useEffect, useRef } from "react";
import type { JobView } from "../api/client";
import { CollapseIcon } from "../app/icons";
import { Splitter } from "../app/Splitter";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { useLayout } from "../state/layout";
import { useView, view } from "../state/view";
import { NodeList } from "../tree/NodeList";
import { type Tab, useWatch, watchView } from "./state";
import { WatchSection } from "./WatchSection";

const HitsPanel = lazy(() => import("./HitsPanel"));

export function LeftPanel({ job, graph }: { job: JobView; graph: string }) {
  const text = useText();
  const tab = useWatch((state) => state.tab);
  const { watchHeight, set } = useLayout();
  useNodesWhenWanted();
  return (
    <>
      <Tabs
        value={tab} onChange={(value) => watchView.showTab(value as Tab)} keepMounted={false} className="ss-left-tabs"
      >
        <div className="ss-panel-title">
          <Tabs.List aria-label={text.watch.leftPanel}>
            <Tabs.Tab value="nodes">{text.watch.nodesTab}</Tabs.Tab>
            <Tabs.Tab value="hits" data-testid="hits-tab">{text.watch.hitsTab(job.hits)}</Tabs.Tab>
          </Tabs.List>
          {tab === "nodes" && (
            <Tooltip label={text.collapseAll}>
              <ActionIcon size="sm" aria-label={text.collapseAll} onClick={() => view.setAllOpen([])}>
                <CollapseIcon size={14} />
              </ActionIcon>
            </Tooltip>
          )}
        </div>
        <Tabs.Panel value="nodes" className="ss-left-tab"><NodeList job={job} graph={graph} /></Tabs.Panel>
        <Tabs.Panel value="hits" className="ss-left-tab"><Suspense><HitsPanel job={job} /></Suspense></Tabs.Panel>
      </Tabs>
      <Splitter
        axis="y" label={text.watch.resize} value={watchHeight} min={90} max={520}
        onChange={(value) => set({ watchHeight: value })}
      />
      <WatchSection job={job} graph={graph} height={watchHeight} />
    </>
  );
}

/** The list of nodes comes to the front when someone looks for a node in it. */
function useNodesWhenWanted(): void {
  const search = useView((state) => state.focusSearch);
  const inList = useView((state) => state.inList);
  const seen = useRef({ search, inList });
  useEffect(() => {
    if (search !== seen.current.search || inList !== seen.current.inList) watchView.showTab("nodes");
    seen.current = { search, inList };
  }, [search, inList]);
}
