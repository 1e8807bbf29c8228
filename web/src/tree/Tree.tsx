/**
 * The node list's tree: any number of rows, of which only those in sight are in the document.
 *
 * One element has the focus and names its active row (`aria-activedescendant`); arrows move, open and close.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useCallback, useEffect, useId, useRef, useState } from "react";
import { useText } from "../i18n";
import { reveal } from "../state/address";
import { useView } from "../state/view";
import type { HitMarks } from "../watch/useHits";
import type { RowTicks } from "../watch/useTicks";
import { canOpen, parentOf, type Row } from "./rows";
import { TreeRow } from "./TreeRow";

const ROW_HEIGHT = 24;

interface Props {
  rows: readonly Row[];
  /** They are what a filter found, not the tree. */
  isFound: boolean;
  graph: string;
  current: string | null;
  match: string;
  setOpen(row: Row, open: boolean): void;
  onSight(row: Row): void;
  /** While the nodes of a watchpoint are ticked. */
  ticks: RowTicks | null;
  hits: HitMarks;
}

export const Tree = memo(function Tree({ rows, isFound, graph, current, match, setOpen, onSight, ticks, hits }: Props) {
  const text = useText();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const selected = useView((state) => state.selected?.name ?? null);
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const active = Math.max(0, rows.findIndex((row) => row.key === activeKey));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const inSight = virtual.getVirtualItems();
  useEffect(() => {
    for (const { index } of inSight) if (rows[index]?.missing) onSight(rows[index]);
  }, [rows, inSight, onSight]);
  const goTo = useCallback(
    (at: number) => {
      const row = rows[at];
      if (!row) return;
      setActiveKey(row.key);
      virtual.scrollToIndex(at, { align: "auto" });
    },
    [rows, virtual],
  );
  useWishes(rows, isFound, graph, selected, goTo, box);

  const choose = (row: Row) => {
    setActiveKey(row.key);
    if (row.kind === "note" || row.kind === "graph") return;
    reveal({ kind: row.kind === "scope" ? "scope" : "node", name: row.name }, row.graph);
  };

  const press = (event: KeyboardEvent) => {
    const row = rows[active];
    if (!row || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW_HEIGHT) - 1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(Math.min(active + 1, rows.length - 1)),
      ArrowUp: () => goTo(Math.max(active - 1, 0)),
      PageDown: () => goTo(Math.min(active + page, rows.length - 1)),
      PageUp: () => goTo(Math.max(active - page, 0)),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      ArrowRight: () => (canOpen(row) && !row.isOpen ? setOpen(row, true) : canOpen(row) && goTo(active + 1)),
      ArrowLeft: () => (canOpen(row) && row.isOpen ? setOpen(row, false) : goTo(parentOf(rows, active))),
      Enter: () => choose(row),
      " ": () => (ticks ? ticks.tick(active) : canOpen(row) && setOpen(row, !row.isOpen)),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };

  const [first, last] = [inSight[0]?.index ?? 0, inSight.at(-1)?.index ?? 0];
  useEffect(() => ticks?.see(first, last), [ticks, first, last]);
  const tick = ticks?.tick;

  const rowId = (at: number) => `${id}-${at}`;
  return (
    <div
      ref={box}
      className="ss-tree"
      role="tree"
      tabIndex={0}
      aria-label={text.nodes}
      aria-activedescendant={rows.length > 0 ? rowId(active) : undefined}
      onKeyDown={press}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {inSight.map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <TreeRow
              key={row.key}
              id={rowId(item.index)}
              row={row}
              top={item.start}
              height={ROW_HEIGHT}
              isActive={item.index === active}
              isSelected={row.name !== "" && row.name === selected && row.graph === graph}
              isCurrent={row.name !== "" && row.name === current}
              match={match}
              hits={row.graph !== graph ? 0 : row.kind === "scope" ? (hits.below.get(row.name) ?? 0) : hits.nodes.has(row.name) ? 1 : 0}
              mark={ticks ? (ticks.markOf(row) ?? null) : undefined}
              at={item.index}
              onTick={tick}
              onChoose={choose}
              onOpen={setOpen}
            />
          );
        })}
      </div>
    </div>
  );
});

/** The last wish that was fulfilled; the list may have been out of sight when it was made. */
let fulfilled = 0;

/**
 * What shall come into sight: what was selected elsewhere, or is still when the rows become others because a filter was
 * set or dropped; and what the canvas asked to show here.
 */
function useWishes(
  rows: readonly Row[],
  isFound: boolean,
  graph: string,
  selected: string | null,
  goTo: (at: number) => void,
  box: React.RefObject<HTMLDivElement | null>,
): void {
  const inList = useView((state) => state.inList);
  const pending = useRef<{ name: string; focus: boolean } | null>(null);
  const shown = useRef<{ name: string | null; isFound: boolean }>({ name: null, isFound });
  useEffect(() => {
    if (inList && inList.serial !== fulfilled) {
      fulfilled = inList.serial;
      pending.current = { name: inList.name, focus: true };
    } else if (selected !== shown.current.name || isFound !== shown.current.isFound) {
      pending.current = selected === null ? null : { name: selected, focus: false };
    }
    shown.current = { name: selected, isFound };
    const wish = pending.current;
    if (!wish) return;
    const at = rows.findIndex((row) => row.name === wish.name && row.graph === graph);
    if (at < 0) return; // its scope is still on its way
    pending.current = null;
    goTo(at);
    if (wish.focus) box.current?.focus();
  }, [rows, isFound, graph, selected, inList, goTo, box]);
}
