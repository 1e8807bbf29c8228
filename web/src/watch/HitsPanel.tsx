/** The list of hits, in the order of execution, graph by graph; of thousands, only those in sight are asked for. */

import { Button } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from "react";
import type { JobView } from "../api/client";
import { type Hit, type HitList, useConditions } from "../api/watch";
import { useActions } from "../control/actions";
import { KEYS } from "../control/keys";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { number } from "../i18n/numbers";
import { reveal } from "../state/address";
import { openTensor } from "../tensor/open";
import { rowAt, rowCount } from "./groups";
import { HitActions } from "./HitActions";
import { HitFilters } from "./HitFilters";
import { HitRow } from "./HitRow";
import { NO_HIT_FILTER, useWatch, watchView } from "./state";
import { useHitFacts, useHitPages, wantedOf } from "./useHits";
import { useWatchpoints } from "./useWatchpoints";
import { hitKey } from "./words";

const ROW_HEIGHT = 58; // of a hit in three lines; each is measured when it is there

export default function HitsPanel({ job }: { job: JobView }) {
  const text = useText();
  const filter = useWatch((state) => state.hitFilter);
  const wanted = wantedOf(filter);
  const { facts, isOutdated, error } = useHitFacts(job, wanted);
  if (error) return <p className="ss-note" role="alert">{errorText(error, text)}</p>;
  if (!facts) return <p className="ss-note">{text.loading}</p>;
  return (
    <section className="ss-hits" aria-label={text.watch.hitList} data-testid="hits">
      {facts.all === 0 ? (
        <None job={job} />
      ) : (
        <>
          <HitFilters job={job} facts={facts} />
          {isOutdated && <Outdated job={job} facts={facts} />}
          {facts.warning && <p className="ss-banner ss-banner-warn">{facts.warning}</p>}
          {facts.total === 0 ? (
            <p className="ss-note">
              {text.watch.noneMatches}{" "}
              <Button size="compact-xs" variant="subtle" onClick={() => watchView.filterHits(NO_HIT_FILTER)}>{text.watch.showAll}</Button>
            </p>
          ) : (
            <Rows key={`${job.hits_revision} ${JSON.stringify(wanted)}`} job={job} facts={facts} isOutdated={isOutdated} />
          )}
        </>
      )}
    </section>
  );
}

/** Nothing was found, or nothing was looked for. */
function None({ job }: { job: JobView }) {
  const text = useText().watch;
  const { list } = useWatchpoints(job);
  const isOn = list?.watchpoints.some(({ enabled }) => enabled) ?? true;
  const isChecked = job.hits_revision > 0;
  return (
    <div className="ss-note">
      <p><strong>{isChecked && isOn ? text.nothingHit(job.step) : text.noHits}</strong></p>
      <p>{isOn ? text.noHitsHint : text.noHitsOff}</p>
    </div>
  );
}

function Outdated({ job, facts }: { job: JobView; facts: HitList }) {
  const text = useText().watch;
  const actions = useActions();
  const why = facts.step === job.step ? text.outdatedSet : text.outdatedStep(facts.step);
  return (
    <div className="ss-banner ss-banner-warn ss-outdated" role="status" data-testid="outdated">
      <span>{why}</span>
      <Button
        size="compact-xs" variant="default" disabled={!actions.possible("recheck")} title={`${text.recheck} (${KEYS.recheck.key})`}
        onClick={() => actions.do("recheck")}
      >
        {text.recheckShort}
      </Button>
    </div>
  );
}

function Rows({ job, facts, isOutdated }: { job: JobView; facts: HitList; isOutdated: boolean }) {
  const text = useText();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const conditions = useConditions();
  const filter = useWatch((state) => state.hitFilter);
  const chosen = useWatch((state) => state.hit);
  const [active, setActive] = useState(() => Math.max(0, useWatch.getState().hitRow));
  const [clicked, setClicked] = useState<Hit | null>(null);
  const count = rowCount(facts.graphs);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: (row) => (rowAt(facts.graphs, row).kind === "graph" ? 26 : ROW_HEIGHT),
    overscan: 6,
    initialOffset: () => Math.max(0, active - 2) * ROW_HEIGHT,
  });
  const items = virtual.getVirtualItems();
  const places = items.flatMap(({ index }) => {
    const row = rowAt(facts.graphs, index);
    return row.kind === "hit" ? [row.at] : [];
  });
  const hitAt = useHitPages(job, wantedOf(filter), places[0] ?? 0, places.at(-1) ?? 0);
  // After a while in another tab only its row is known.
  const atActive = count > 0 ? rowAt(facts.graphs, active) : null;
  const inRow = atActive?.kind === "hit" ? hitAt(atActive.at) : undefined;
  const chosenHit = [clicked, inRow].find((hit) => hit && hitKey(hit) === chosen);
  // Rows get their heights as they come: the active one is kept in sight, unless someone scrolls.
  const isFollowed = useRef(false);
  const height = virtual.getTotalSize();
  useLayoutEffect(() => {
    if (isFollowed.current) virtual.scrollToIndex(active, { align: "auto" });
  }, [active, height, virtual]);
  const letGo = () => {
    isFollowed.current = false;
  };

  const goTo = (row: number, by: 1 | -1) => {
    let to = Math.min(Math.max(row, 0), count - 1);
    if (rowAt(facts.graphs, to).kind === "graph") to = to === 0 ? 1 : to + by;
    isFollowed.current = true;
    setActive(to);
  };
  const choose = (row: number, hit: Hit) => {
    setActive(row);
    setClicked(hit);
    useWatch.setState({ hit: hitKey(hit), hitRow: row });
    reveal({ kind: "node", name: hit.node }, hit.graph);
  };
  const openOne = (row: number, hit: Hit) => {
    setActive(row);
    setClicked(hit);
    useWatch.setState({ hit: hitKey(hit), hitRow: row });
    openTensor(hit);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      withActive(openOne);
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(active + 1, 1),
      ArrowUp: () => goTo(active - 1, -1),
      PageDown: () => goTo(active + 5, 1),
      PageUp: () => goTo(active - 5, -1),
      Home: () => goTo(0, 1),
      End: () => goTo(count - 1, 1),
      Enter: () => withActive(choose),
      " ": () => withActive(choose),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const withActive = (act: (row: number, hit: Hit) => void) => {
    const row = rowAt(facts.graphs, active);
    const hit = row.kind === "hit" ? hitAt(row.at) : undefined;
    if (hit) act(active, hit);
  };

  return (
    <>
      <div
        ref={box} className={isOutdated ? "ss-hit-list ss-hit-old" : "ss-hit-list"} role="listbox" tabIndex={0}
        aria-label={text.watch.hitList} aria-activedescendant={`${id}-${active}`} aria-keyshortcuts="Shift+Enter" onKeyDown={press}
        onWheel={letGo} onPointerDown={letGo}
      >
        <div role="presentation" style={{ height, position: "relative" }}>
          {items.map(({ index, start, key }) => {
            const row = rowAt(facts.graphs, index);
            const at = { ref: virtual.measureElement, "data-index": index, style: { transform: `translateY(${start}px)` } };
            if (row.kind === "graph") {
              return (
                <div key={key} {...at} className="ss-hit-graph" role="presentation">
                  {row.group.graph} <span className="ss-row-count">{number(row.group.total)}</span>
                </div>
              );
            }
            const hit = hitAt(row.at);
            return (
              <HitRow
                key={key} {...at} id={`${id}-${index}`} hit={hit} conditions={conditions} at={row.at} total={facts.total}
                isActive={index === active} isChosen={hit !== undefined && hitKey(hit) === chosen} hasRanks={job.rank_count > 1}
                onChoose={(one) => choose(index, one)} onTensor={(one) => openOne(index, one)}
              />
            );
          })}
        </div>
      </div>
      {chosenHit && <HitActions job={job} hit={chosenHit} />}
    </>
  );
}
