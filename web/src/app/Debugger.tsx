/** A job on the page: node list and control on the left, graph in the middle, details below; borders can be moved. */

import { Center, Loader, Stack, Text } from "@mantine/core";
import { memo, useMemo } from "react";
import type { JobView } from "../api/client";
import { useActions } from "../control/actions";
import { ControlPanel } from "../control/ControlPanel";
import { Details } from "../details/Details";
import type { GraphCommands } from "../graph/contract";
import GraphView from "../graph/GraphView";
import { useText } from "../i18n";
import { select } from "../state/address";
import { useLayout } from "../state/layout";
import { useOpenScopes, useRevision, useView, view } from "../state/view";
import { TensorLayer } from "../tensor/TensorLayer";
import { WatchDialogs } from "../watch/Dialogs";
import { LeftPanel } from "../watch/LeftPanel";
import { watchView } from "../watch/state";
import { useHitMarks, useNewHits } from "../watch/useHits";
import { JobBanners } from "./banners";
import { copy } from "./Copy";
import { DownIcon, LeftIcon, RightIcon, UpIcon } from "./icons";
import { Splitter } from "./Splitter";
import { Toggle } from "./Toggle";
import { useLater } from "./useLater";

export const Debugger = memo(function Debugger({ job, graph }: { job: JobView; graph: string | null }) {
  const text = useText();
  const { listWidth, detailsHeight, isListOpen, isDetailsOpen, set } = useLayout();
  useNewHits(job);
  const isLater = useLater(); // the graph first
  return (
    <div className="ss-debugger">
      <h1 className="ss-hidden">{job.title}</h1>
      <JobBanners job={job} />
      <TensorLayer job={job}>
        {isListOpen ? (
          <>
            <aside className="ss-left" style={{ width: listWidth }}>
              <Toggle label={text.hideList} isOpen icon={<LeftIcon size={12} />} onClick={() => set({ isListOpen: false })} />
              {graph === null || !isLater ? <div className="ss-grow" /> : <LeftPanel job={job} graph={graph} />}
              {isLater && <ControlPanel job={job} />}
            </aside>
            <Splitter
              axis="x" label={text.resizeList} value={listWidth} min={240} max={640}
              onChange={(value) => set({ listWidth: value })}
            />
          </>
        ) : null}
        <div className="ss-middle">
          <div className="ss-canvas">
            {graph === null ? <NoGraph job={job} /> : <Canvas key={`${job.id} ${graph}`} job={job} graph={graph} />}
            {!isListOpen && (
              <Toggle
                label={text.showList} handle="left" icon={<RightIcon size={12} />} onClick={() => set({ isListOpen: true })}
              />
            )}
            {!isDetailsOpen && (
              <Toggle
                label={text.showDetails} handle="bottom" icon={<UpIcon size={12} />}
                onClick={() => set({ isDetailsOpen: true })}
              />
            )}
          </div>
          {isDetailsOpen && (
            <>
              <Splitter
                axis="y" label={text.resizeDetails} value={detailsHeight} min={120} max={700}
                onChange={(value) => set({ detailsHeight: value })}
              />
              <section className="ss-details" aria-label={text.details} style={{ height: detailsHeight }}>
                <Toggle
                  label={text.hideDetails} isOpen icon={<DownIcon size={12} />} onClick={() => set({ isDetailsOpen: false })}
                />
                {isLater && <Details job={job} graph={graph} />}
              </section>
            </>
          )}
        </div>
      </TensorLayer>
      {isLater && <WatchDialogs job={job} />}
    </div>
  );
});

function NoGraph({ job }: { job: JobView }) {
  const text = useText();
  return (
    <Center h="100%">
      <Stack align="center" gap="xs">
        {job.connected && <Loader size="sm" aria-hidden />}
        <Text fw={600}>{text.compiling}</Text>
        {job.connected && <Text c="dimmed" size="sm">{text.compilingHint}</Text>}
      </Stack>
    </Center>
  );
}

function Canvas({ job, graph }: { job: JobView; graph: string }) {
  const { possible, runTo, situation } = useActions();
  const revision = useRevision(job.id, graph);
  const open = useOpenScopes(job.id, graph);
  const selected = useView((state) => state.selected);
  const reveal = useView((state) => state.reveal);
  const canRun = possible("resume") || situation.busy;
  const canWatch = possible("new_watchpoint");
  const { nodes: hits } = useHitMarks(job, graph);
  const commands = useMemo<GraphCommands>(
    () => ({
      canRun,
      runTo,
      watch: canWatch ? (selection) => watchView.openNew(graph, selection) : null,
      showInList: (name) => view.showInList(name),
      copy: (value) => void copy(value),
    }),
    [canRun, runTo, canWatch, graph],
  );
  return (
    <GraphView
      job={job}
      graph={graph}
      graphRevision={revision}
      selected={selected}
      current={job.cursor?.graph === graph ? job.cursor.node : null}
      hits={hits}
      openScopes={open}
      reveal={reveal}
      commands={commands}
      onSelect={select}
      onOpenChange={view.setOpen}
      onOpenScopes={view.setAllOpen}
    />
  );
}
