/** One row of the node list. */

import { memo, type ReactNode } from "react";
import { RightIcon } from "../app/icons";
import { useText } from "../i18n";
import { number } from "../i18n/numbers";
import type { Mark } from "../watch/ticks";
import { canOpen, type Row } from "./rows";

interface Props {
  id: string;
  row: Row;
  top: number;
  height: number;
  isActive: boolean;
  isSelected: boolean;
  isCurrent: boolean;
  match: string;
  /** Of watchpoints: on the node, or on nodes inside the scope. */
  hits: number;
  /** The box that is ticked for a watchpoint: null while it is not known, undefined where there is none. */
  mark: Mark | null | undefined;
  at: number;
  onTick: ((at: number) => void) | undefined;
  onChoose(row: Row): void;
  onOpen(row: Row, open: boolean): void;
}

export const TreeRow = memo(function TreeRow(props: Props) {
  const { id, row, top, height, isActive, isSelected, isCurrent, match, hits, mark, at, onTick, onChoose, onOpen } = props;
  const text = useText();
  const canBeTicked = mark !== undefined && mark !== -1;
  const canBeOpened = canOpen(row);
  const classes = ["ss-row", isActive && "ss-row-active", isSelected && "ss-row-selected", isCurrent && "ss-row-current"];
  const what = row.kind === "note" ? "" : row.kind === "graph" ? text.graph : text.kind[row.kind];
  const hitText = hits === 0 ? "" : row.kind === "scope" ? text.watch.hitsInside(hits) : text.watch.hitMark;
  const tip = [row.name, row.op && row.op !== row.label ? row.op : "", hitText].filter(Boolean).join("\n");
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={canBeOpened ? row.isOpen : undefined}
      aria-selected={isSelected}
      aria-checked={!canBeTicked || mark === null ? undefined : mark === 2 ? "mixed" : mark === 1}
      aria-current={isCurrent ? "step" : undefined}
      aria-label={[row.label, what, canBeOpened ? text.ops(row.count) : "", isCurrent ? text.currentNode : "", hitText].filter(Boolean).join(", ")}
      className={classes.filter(Boolean).join(" ")}
      style={{ transform: `translateY(${top}px)`, height, paddingLeft: 6 + 14 * row.depth }}
      title={tip}
      data-name={row.name}
      onClick={() => onChoose(row)}
      onDoubleClick={() => canBeOpened && onOpen(row, !row.isOpen)}
    >
      <span
        className={`ss-caret${row.isOpen ? " ss-caret-open" : ""}`}
        onClick={(event) => {
          if (!canBeOpened) return;
          event.stopPropagation();
          onOpen(row, !row.isOpen);
        }}
      >
        {canBeOpened && <RightIcon size={11} />}
      </span>
      {mark !== undefined && row.kind !== "note" && (
        <span
          className={`ss-tick ss-tick-${mark === null ? "unknown" : mark === -1 ? "none" : mark}`}
          onClick={(event) => {
            event.stopPropagation();
            if (canBeTicked) onTick?.(at);
          }}
          onDoubleClick={(event) => event.stopPropagation()}
        />
      )}
      {row.kind !== "note" && <span className={`ss-kind ss-kind-${row.kind}`} />}
      <span className={row.kind === "note" ? "ss-row-label ss-dimmed" : "ss-row-label"}>{marked(row.label, match)}</span>
      {hits > 0 && <span className="ss-row-hit" aria-hidden="true">{row.kind === "scope" ? number(hits) : "!"}</span>}
      {canBeOpened && <span className="ss-row-count">{number(row.count)}</span>}
    </div>
  );
});

/** The label with what was looked for marked in it. */
function marked(label: string, match: string): ReactNode {
  const at = match ? label.toLowerCase().indexOf(match.toLowerCase()) : -1;
  if (at < 0) return label;
  return (
    <>
      {label.slice(0, at)}
      <mark>{label.slice(at, at + match.length)}</mark>
      {label.slice(at + match.length)}
    </>
  );
}
