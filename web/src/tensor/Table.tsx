/**
 * The values as a table: any number of rows and columns, of which only those in sight are asked for and drawn.
 *
 * One element has the focus and names its active cell (`aria-activedescendant`); arrows move, with Shift they select.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type PointerEvent, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useText } from "../i18n";
import { type Cell, cellOf, type Look, type Source, valueText } from "./cells";
import { copyCells } from "./copying";
import type { Shown } from "./parts";
import { at, contains, move, type Place, rectangleOf, type Selection, START } from "./selection";
import { cellAt, columnLabel, rowLabel, SECTION_COLUMNS, SECTION_ROWS, type Sheet } from "./sheet";
import { TableFoot } from "./TableFoot";
import { headWidth, useColumnWidth } from "./useColumnWidth";
import { useValues } from "./useValues";
import { Failure } from "./Failure";

const ROW_HEIGHT = 22;

/** A wish to have the focus on a place of the part, in the sections where that is. */
export interface Wish {
  position: readonly number[];
}

interface Props {
  shown: Shown;
  sheet: Sheet;
  look: Look;
  wish: Wish | null;
  onWished(): void;
  /** The figures above are those of the pause before. */
  isOld: boolean;
}

export function Table({ shown, sheet, look, wish, onWished, isOld }: Props) {
  const text = useText();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const values = useValues(shown, sheet);
  const [selection, setSelection] = useState<Selection>(START);
  const { focus } = selection;
  const top = Math.floor(focus.row / SECTION_ROWS) * SECTION_ROWS;
  const left = Math.floor(focus.column / SECTION_COLUMNS) * SECTION_COLUMNS;
  const widths = useColumnWidth(`${shown.of} ${look.format.kind} ${look.format.decimals}`);
  const head = useMemo(() => headWidth(sheet), [sheet]);
  const getScrollElement = () => box.current;
  const rows = useVirtualizer({
    count: Math.min(SECTION_ROWS, sheet.rows - top),
    getScrollElement,
    estimateSize: () => ROW_HEIGHT,
    overscan: 4,
    paddingStart: ROW_HEIGHT,
    scrollPaddingStart: ROW_HEIGHT,
  });
  const columns = useVirtualizer({
    horizontal: true,
    count: Math.min(SECTION_COLUMNS, sheet.columns - left),
    getScrollElement,
    estimateSize: () => widths.width,
    overscan: 2,
    paddingStart: head,
    scrollPaddingStart: head,
  });
  const [down, across] = [rows.getVirtualItems(), columns.getVirtualItems()];
  const [firstRow, lastRow] = [top + (down[0]?.index ?? 0), top + (down.at(-1)?.index ?? 0)];
  const [firstColumn, lastColumn] = [left + (across[0]?.index ?? 0), left + (across.at(-1)?.index ?? 0)];
  const { want } = values;
  useEffect(() => want({ top: firstRow, bottom: lastRow, left: firstColumn, right: lastColumn }), [want, firstRow, lastRow, firstColumn, lastColumn]);
  useLayoutEffect(() => columns.measure(), [columns, widths.width, head]);

  // What keys and jumps move is brought into sight; what is clicked is in sight.
  const follow = useRef(false);
  useLayoutEffect(() => {
    if (!follow.current) return;
    follow.current = false;
    rows.scrollToIndex(focus.row - top, { align: "auto" });
    columns.scrollToIndex(focus.column - left, { align: "auto" });
  }, [focus, top, left, rows, columns, widths.width]);
  const goTo = (next: Selection) => {
    follow.current = true;
    setSelection(next);
  };
  useEffect(() => {
    if (!wish) return;
    follow.current = true;
    setSelection(at(cellAt(sheet, wish.position)));
    box.current?.focus({ preventScroll: true });
    onWished();
    // a wish is fulfilled once
  }, [wish]);

  const chosen = rectangleOf(selection);
  const copy = () => void copyCells(values, chosen, look, text);
  const press = (event: KeyboardEvent) => {
    if (event.altKey) return;
    const ctrl = event.ctrlKey || event.metaKey;
    if (ctrl && event.key.toLowerCase() === "c") {
      event.preventDefault();
      copy();
      return;
    }
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2);
    const size = { rows: sheet.rows, columns: sheet.columns, page };
    const next = move(selection, { key: event.key, ctrl, shift: event.shiftKey }, size);
    if (!next) return;
    event.preventDefault();
    goTo(next);
  };
  const pointer = usePointer(setSelection);

  const drawn: Cell[] = [];
  const labelOf = (row: number, column: number) => `${id}-${row}-${column}`;
  const isStale = isOld || values.isOld || !shown.isLive;
  const body = down.map((row) => {
    const number = top + row.index;
    return (
      <div key={row.key} role="row" aria-rowindex={number + 2} className="ss-sheet-row" style={{ transform: `translateY(${row.start}px)`, height: ROW_HEIGHT }}>
        <div role="rowheader" aria-colindex={1} className="ss-sheet-side" style={{ width: head }}>{rowLabel(sheet, number)}</div>
        {across.map((column) => {
          const place = values.at(number, left + column.index);
          if (!place) return null;
          const cell = cellOf(place.source, place.place, look);
          if (cell) drawn.push(cell);
          const isFocus = number === focus.row && left + column.index === focus.column;
          return (
            <div
              key={column.key} id={labelOf(number, left + column.index)} role="gridcell" aria-colindex={left + column.index + 2}
              aria-selected={contains(chosen, number, left + column.index)} data-row={number} data-column={left + column.index}
              className={`ss-cell${cell?.tone ? ` ss-cell-${cell.tone}` : ""}${isFocus ? " ss-cell-focus" : ""}`}
              style={{ left: column.start, width: column.size, background: cell ? background(cell) : undefined }}
              data-tip={shown.of === "difference" ? changeTip(place.source, place.place) : undefined}
            >
              {cell ? cell.text : "…"}
            </div>
          );
        })}
      </div>
    );
  });
  widths.see(drawn, (width) => {
    if (!box.current) return;
    const { scrollLeft, clientWidth } = box.current;
    const focused = across.find(({ index }) => left + index === focus.column);
    // A focus in sight stays there: wider columns would push it out.
    follow.current = focused !== undefined && focused.end > scrollLeft + head && focused.start < scrollLeft + clientWidth;
    box.current.scrollLeft *= width / widths.width;
  });

  if (values.error) return <Failure error={values.error} onRetry={shown.isLive ? values.retry : undefined} />;
  return (
    <div className="ss-sheet">
      <div
        ref={box} className={isStale ? "ss-sheet-box ss-old" : "ss-sheet-box"} role="grid" tabIndex={0} aria-label={text.tensor.values} aria-multiselectable
        aria-rowcount={sheet.rows + 1} aria-colcount={sheet.columns + 1} aria-activedescendant={labelOf(focus.row, focus.column)} aria-busy={!values.isOld && drawn.length === 0}
        data-testid="table" data-old={isStale} onKeyDown={press} {...pointer}
      >
        <div role="presentation" className="ss-sheet-all" style={{ width: columns.getTotalSize(), height: rows.getTotalSize() }}>
          <div role="row" aria-rowindex={1} className="ss-sheet-top" style={{ height: ROW_HEIGHT }}>
            <div role="columnheader" aria-colindex={1} className="ss-sheet-corner" style={{ width: head }}>{cornerText(sheet)}</div>
            {across.map((column) => (
              <div
                key={column.key} role="columnheader" aria-colindex={left + column.index + 2} className="ss-sheet-label"
                style={{ left: column.start, width: column.size }}
              >
                {columnLabel(sheet, left + column.index)}
              </div>
            ))}
          </div>
          {body}
        </div>
      </div>
      <TableFoot
        shown={shown} sheet={sheet} place={values.at(focus.row, focus.column)} focus={focus} chosen={chosen} section={{ top, left }}
        onSection={(place: Place) => goTo(at(place))} onCopy={copy} scale={look.scale}
      />
    </div>
  );
}

function background({ weight, tone }: Cell): string | undefined {
  if (tone === "nan" || tone === "inf" || weight === 0) return undefined;
  return `rgb(var(--ss-cell-${weight < 0 ? "low" : "high"}) / ${Math.abs(weight).toFixed(3)})`;
}

function changeTip({ current, previous }: Source, at: number): string | undefined {
  return current && previous ? `${valueText(previous, at)} → ${valueText(current, at)}` : undefined;
}

/** The dimensions whose indices stand beside the rows and above the columns. */
function cornerText({ part, isWrapped }: Sheet): string {
  const [first, second] = part.free;
  if (first === undefined) return "";
  return isWrapped || second === undefined ? `${first}` : `${first} \\ ${second}`;
}

/** Click, Shift+click and drag. */
function usePointer(setSelection: (change: (old: Selection) => Selection) => void) {
  const isDragging = useRef(false);
  const placeOf = (event: PointerEvent): Place | null => {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-row]") : null;
    return cell && { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      const place = event.button === 0 ? placeOf(event) : null;
      if (!place) return;
      isDragging.current = true;
      setSelection((old) => (event.shiftKey ? { anchor: old.anchor, focus: place } : at(place)));
    },
    onPointerMove: (event: PointerEvent) => {
      if (event.buttons !== 1) isDragging.current = false;
      const place = isDragging.current ? placeOf(event) : null;
      if (!place) return;
      setSelection((old) =>
        old.focus.row === place.row && old.focus.column === place.column ? old : { anchor: old.anchor, focus: place },
      );
    },
    onPointerUp: () => {
      isDragging.current = false;
    },
  };
}
