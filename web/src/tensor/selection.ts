/** The focus and the selection of the table, and how keys move them. Pure. */

export interface Place {
  row: number;
  column: number;
}

/** A rectangle from where the selection began to the focus. */
export interface Selection {
  anchor: Place;
  focus: Place;
}

export interface Rectangle {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export const START: Selection = { anchor: { row: 0, column: 0 }, focus: { row: 0, column: 0 } };

export function rectangleOf({ anchor, focus }: Selection): Rectangle {
  return {
    top: Math.min(anchor.row, focus.row),
    bottom: Math.max(anchor.row, focus.row),
    left: Math.min(anchor.column, focus.column),
    right: Math.max(anchor.column, focus.column),
  };
}

export function contains({ top, bottom, left, right }: Rectangle, row: number, column: number): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

export function at(place: Place): Selection {
  return { anchor: place, focus: place };
}

interface Press {
  key: string;
  ctrl: boolean;
  shift: boolean;
}

interface Size {
  rows: number;
  columns: number;
  /** Rows in sight. */
  page: number;
}

/** The selection after a key; null for keys that don't move. Shift keeps the anchor, Ctrl goes to the ends. */
export function move(selection: Selection, { key, ctrl, shift }: Press, { rows, columns, page }: Size): Selection | null {
  if (ctrl && key.toLowerCase() === "a") {
    return { anchor: { row: rows - 1, column: columns - 1 }, focus: { row: 0, column: 0 } }; // the focus stays in front
  }
  const { row, column } = selection.focus;
  const [last, end] = [rows - 1, columns - 1];
  const moves: Record<string, Place> = {
    ArrowUp: { row: ctrl ? 0 : row - 1, column },
    ArrowDown: { row: ctrl ? last : row + 1, column },
    ArrowLeft: { row, column: ctrl ? 0 : column - 1 },
    ArrowRight: { row, column: ctrl ? end : column + 1 },
    PageUp: { row: row - page, column },
    PageDown: { row: row + page, column },
    Home: { row: ctrl ? 0 : row, column: 0 },
    End: { row: ctrl ? last : row, column: end },
  };
  const wanted = moves[key];
  if (!wanted) return null;
  const focus = { row: Math.min(Math.max(wanted.row, 0), last), column: Math.min(Math.max(wanted.column, 0), end) };
  return { anchor: shift ? selection.anchor : focus, focus };
}
