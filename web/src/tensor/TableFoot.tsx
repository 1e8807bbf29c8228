/** Below the table: where the focus is and what stands there, the sections of very large parts, the colours. */

import { ActionIcon } from "@mantine/core";
import { CopyIcon, LeftIcon, RightIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { exactText, type Scale, type Source } from "./cells";
import { realPosition } from "./dims";
import type { Shown } from "./parts";
import type { Place, Rectangle } from "./selection";
import { positionOf, SECTION_COLUMNS, SECTION_ROWS, type Sheet } from "./sheet";

interface Props {
  shown: Shown;
  sheet: Sheet;
  place: { source: Source; place: number } | null;
  focus: Place;
  chosen: Rectangle;
  section: { top: number; left: number };
  onSection(place: Place): void;
  onCopy(): void;
  scale: Scale | null;
}

export function TableFoot({ shown, sheet, place, focus, chosen, section, onSection, onCopy, scale }: Props) {
  const text = useText().tensor;
  const [rows, columns] = [chosen.bottom - chosen.top + 1, chosen.right - chosen.left + 1];
  const position = realPosition(sheet.part, positionOf(sheet, focus.row, focus.column));
  return (
    <div className="ss-sheet-foot">
      <span className="ss-mono ss-ellipsis" data-testid="focus">
        {place ? `[${position.join(", ")}] = ${focusText(shown, place.source, place.place)}` : ""}
      </span>
      {rows * columns > 1 && <span className="ss-dimmed" data-testid="selected-cells">{text.selection(rows, columns)}</span>}
      <Tooltip label={text.copyValues}>
        <ActionIcon size="sm" aria-label={text.copyValues} onClick={onCopy}><CopyIcon size={14} /></ActionIcon>
      </Tooltip>
      <span className="ss-grow" />
      <Section
        label={text.section.rows} from={section.top} size={SECTION_ROWS} of={sheet.rows}
        onChange={(row) => onSection({ row, column: focus.column })}
      />
      <Section
        label={text.section.columns} from={section.left} size={SECTION_COLUMNS} of={sheet.columns}
        onChange={(column) => onSection({ row: focus.row, column })}
      />
      {scale && shown.dtype !== "bool" && <Legend scale={scale} />}
    </div>
  );
}

function focusText({ of }: Shown, source: Source, place: number): string {
  const { current, previous } = source;
  if (of === "difference") return current && previous ? `${exactText(previous, place)} → ${exactText(current, place)}` : "…";
  const values = source[of];
  return values ? exactText(values, place) : "…";
}

interface SectionProps {
  label: string;
  from: number;
  size: number;
  of: number;
  onChange(from: number): void;
}

/** Which of the sections is shown, where there are several. */
function Section({ label, from, size, of, onChange }: SectionProps) {
  const text = useText().tensor;
  if (of <= size) return null;
  return (
    <span className="ss-section" data-testid="section">
      <span>{label}</span>
      <ActionIcon size="sm" aria-label={`${label}: ${text.earlier}`} disabled={from === 0} onClick={() => onChange(from - size)}>
        <LeftIcon size={12} />
      </ActionIcon>
      <span>{text.sectionRange(from, Math.min(from + size, of) - 1, of)}</span>
      <ActionIcon size="sm" aria-label={`${label}: ${text.later}`} disabled={from + size >= of} onClick={() => onChange(from + size)}>
        <RightIcon size={12} />
      </ActionIcon>
    </span>
  );
}

function Legend({ scale: { low, middle, high } }: { scale: Scale }) {
  const text = useText().tensor;
  const [isBelow, isAbove] = [low < middle, middle < high];
  const bar = ["ss-legend-bar", isBelow && "ss-legend-below", isAbove && "ss-legend-above"].filter(Boolean).join(" ");
  return (
    <Tooltip label={text.legend}>
      <span className="ss-legend" aria-label={text.legend} role="img">
        {(isBelow || isAbove) && <><span>{text.min}</span><span className={bar} /><span>{text.max}</span></>}
        <span className="ss-legend-mark ss-cell-nan">NaN</span><span className="ss-legend-mark ss-cell-inf">Inf</span>
      </span>
    </Tooltip>
  );
}
