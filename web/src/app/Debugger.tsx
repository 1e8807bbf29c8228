/** A job on the page: node list and control on the left, graph in the middle, details below; borders can be moved. */

import { ActionIcon, Center, Loader, Stack, Text, Tooltip } from "@mantine/core";
import { lazy, Suspense, useMemo } from "react";
import type { JobView } from "../api/client";
import { useActions } from "../control/actions";
import { ControlPanel } from "../control/ControlPanel";
import { Details } from "../details/Details";
import type { GraphCommands } from "../graph/contract";
import { useText } from "../i18n";
import { select } from "../state/address";
import { useLayout } from "../state/layout";
import { useOpenScopes, useRevision, useView, view } from "../state/view";
import { NodeList } from "../tree/NodeList";
import { JobBanners } from "./banners";
import { copy } from "./Copy";
import { DownIcon, LeftIcon, RightIcon, UpIcon } from "./icons";
import { Splitter } from "./Splitter";

const GraphView = lazy(() => import("../graph/GraphView"));
const NO_HITS: ReadonlySet<string> = new Set();

export function Debugger({ job, graph }: { job: JobView; graph: string | null }) {
  const text = useText();
  const { listWidth, detailsHeight, isListOpen, isDetailsOpen, set } = useLayout();
  return (
    <div className="ss-debugger">
      <h1 className="ss-hidden">{job.title}</h1>
      <JobBanners job={job} />
      <div className="ss-columns">
        {isListOpen ? (
          <>
            <aside className="ss-left" style={{ width: listWidth }}>
              {graph === null ? <div className="ss-grow" /> : <NodeList job={job} graph={graph} />}
              <ControlPanel job={job} />
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
            <Tooltip label={isListOpen ? text.hideList : text.showList}>
              <ActionIcon
                className="ss-handle-left" variant="default" size="sm" aria-expanded={isListOpen}
                aria-label={isListOpen ? text.hideList : text.showList}
                onClick={() => set({ isListOpen: !isListOpen })}
              >
                {isListOpen ? <LeftIcon size={12} /> : <RightIcon size={12} />}
              </ActionIcon>
            </Tooltip>
            <Tooltip label={isDetailsOpen ? text.hideDetails : text.showDetails}>
              <ActionIcon
                className="ss-handle-bottom" variant="default" size="sm" aria-expanded={isDetailsOpen}
                aria-label={isDetailsOpen ? text.hideDetails : text.showDetails}
                onClick={() => set({ isDetailsOpen: !isDetailsOpen })}
              >
                {isDetailsOpen ? <DownIcon size={12} /> : <UpIcon size={12} />}
              </ActionIcon>
            </Tooltip>
          </div>
          {isDetailsOpen && (
            <>
              <Splitter
                axis="y" label={text.resizeDetails} value={detailsHeight} min={120} max={700}
                onChange={(value) => set({ detailsHeight: value })}
              />
              <section className="ss-details" aria-label={text.details} style={{ height: detailsHeight }}>
                <Details job={job} graph={graph} />
              </section>
            </>
          )}
        </div>
      </div>
    </div>
  );
}

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
  const text = useText();
  const { possible, runTo, situation } = useActions();
  const revision = useRevision(job.id, graph);
  const open = useOpenScopes(job.id, graph);
  const selected = useView((state) => state.selected);
  const reveal = useView((state) => state.reveal);
  const canRun = possible("resume") || situation.busy;
  const commands = useMemo<GraphCommands>(
    () => ({
      canRun,
      runTo,
      showInList: (name) => view.showInList(name),
      copy: (value) => void copy(value),
    }),
    [canRun, runTo],
  );
  const loading = <Center h="100%"><Loader size="sm" aria-label={text.loading} /></Center>;
  return (
    <Suspense fallback={loading}>
      <GraphView
        job={job}
        graph={graph}
        graphRevision={revision}
        selected={selected}
        current={job.cursor?.graph === graph ? job.cursor.node : null}
        hits={NO_HITS}
        openScopes={open}
        reveal={reveal}
        commands={commands}
        onSelect={select}
        onOpenChange={view.setOpen}
        onOpenScopes={view.setAllOpen}
      />
    </Suspense>
  );
}
