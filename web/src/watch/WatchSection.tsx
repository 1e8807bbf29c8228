/** The list of watchpoints, with what can be done to all of them over it. */

import { ActionIcon } from "@mantine/core";
import { type KeyboardEvent, useEffect, useRef } from "react";
import type { JobView } from "../api/client";
import { useConditions } from "../api/watch";
import { PlusIcon, RecheckIcon, TrashIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useActions } from "../control/actions";
import { ariaKeys, KEYS } from "../control/keys";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { hasEnded } from "../state/job";
import { useView } from "../state/view";
import { Late, Offer } from "./Offer";
import { useWatch, watchView } from "./state";
import { useWatchChanges, useWatchpoints } from "./useWatchpoints";
import { WatchRow } from "./WatchRow";

export function WatchSection({ job, graph, height }: { job: JobView; graph: string; height: number }) {
  const text = useText();
  const { list, error } = useWatchpoints(job);
  const conditions = useConditions();
  const changes = useWatchChanges(job.id);
  const ticking = useWatch((state) => state.ticking);
  const box = useRef<HTMLDivElement>(null);
  const rows = list?.watchpoints ?? [];
  const canChange = !hasEnded(job);
  const isThere = rows.some(({ id }) => id === ticking);
  const wasThere = useRef<number | null>(null);
  useEffect(() => {
    // A new one is not in the list yet when its nodes are ticked already.
    if (isThere) box.current?.querySelector(`[data-watch="${ticking}"]`)?.scrollIntoView({ block: "nearest" });
    else if (ticking !== null && ticking === wasThere.current) watchView.tick(null);
    wasThere.current = isThere ? ticking : null;
  }, [ticking, isThere]);
  const isOffered = list !== null && list.recommended === "open" && canChange;
  return (
    <section className="ss-watch" aria-labelledby="watch-title" style={{ height }}>
      <div className="ss-panel-title">
        <h2 id="watch-title">{text.watch.title}{rows.length > 0 ? ` (${rows.length})` : ""}</h2>
        <Header job={job} graph={graph} isEmpty={rows.length === 0} />
      </div>
      <div className="ss-watch-scroll" ref={box}>
        {error && !list && <p className="ss-note" role="alert">{errorText(error, text)}</p>}
        {isOffered && <Offer list={list} changes={changes} />}
        <ul aria-labelledby="watch-title" onKeyDown={(event) => moveFocus(event)}>
          {rows.map((watchpoint) => (
            <WatchRow
              key={watchpoint.id} watchpoint={watchpoint} conditions={conditions} changes={changes} canChange={canChange}
              isTicking={watchpoint.id === ticking}
            />
          ))}
        </ul>
        {list && rows.length === 0 && !isOffered && (
          <p className="ss-note">
            {text.watch.none} {text.watch.noneHint}
          </p>
        )}
        {list && !isOffered && canChange && <Late list={list} changes={changes} />}
      </div>
    </section>
  );
}

function Header({ job, graph, isEmpty }: { job: JobView; graph: string; isEmpty: boolean }) {
  const text = useText();
  const actions = useActions();
  const recheck = `${text.watch.recheck} (${KEYS.recheck.key})`;
  return (
    <div className="ss-watch-actions">
      <Tooltip label={recheck}>
        <ActionIcon
          size="sm" aria-label={text.watch.recheck} aria-keyshortcuts={ariaKeys("recheck")}
          disabled={isEmpty || !actions.possible("recheck")} onClick={() => actions.do("recheck")}
        >
          <RecheckIcon size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={text.watch.clear}>
        <ActionIcon
          size="sm" aria-label={text.watch.clear} disabled={isEmpty || hasEnded(job)}
          onClick={() => watchView.open({ kind: "clear" })}
        >
          <TrashIcon size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={`${text.watch.add} (${KEYS.new_watchpoint.key})`}>
        <ActionIcon
          size="sm" variant="light" color="cyan" aria-label={text.watch.add} aria-keyshortcuts={ariaKeys("new_watchpoint")}
          disabled={!actions.possible("new_watchpoint")}
          onClick={() => watchView.openNew(graph, useView.getState().selected, false)}
        >
          <PlusIcon size={15} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

/** Up and down go from row to row, to the same thing in each. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const from = event.target as HTMLElement;
  const part = from.dataset.part;
  if (by === undefined || part === undefined) return;
  const parts = [...event.currentTarget.querySelectorAll<HTMLElement>(`[data-part="${part}"]`)];
  parts[parts.indexOf(from) + by]?.focus();
  event.preventDefault();
}
