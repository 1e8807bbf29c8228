/** The figures of the whole tensor in one line; of a comparison three: this step, the one before, the difference. */

import type { Schemas, Statistics } from "../api/client";
import { useText } from "../i18n";
import { number, percent, real } from "../i18n/numbers";
import type { Of } from "./parts";
import { CHANGES, type Figure, figuresOf } from "./statistics";

interface Props {
  of: Of;
  figures: Statistics | undefined;
  comparison: Schemas["ComparisonView"] | undefined;
  isOld: boolean;
}

export function Figures({ of, figures, comparison, isOld }: Props) {
  const text = useText().tensor;
  const rows: [Of, Statistics | undefined][] =
    of === "difference"
      ? [["current", comparison?.current], ["previous", comparison?.previous], ["difference", comparison?.difference]]
      : [[of, figures]];
  const dtype = rows[0]?.[1]?.dtype;
  const isBool = dtype === "bool";
  const columns = figuresOf(dtype);
  return (
    <div className={isOld ? "ss-figures ss-old" : "ss-figures"} tabIndex={0} role="group" aria-label={text.figures}>
      <table data-testid="figures">
        <thead>
          <tr>
            {of === "difference" && <th scope="col"><span className="ss-hidden">{text.whose}</span></th>}
            {columns.map(({ label }) => <th key={label(text)} scope="col">{label(text)}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map(([whose, row]) => (
            <tr key={whose} data-testid={`figures-${whose}`}>
              {of === "difference" && <th scope="row">{text.rows[whose]}</th>}
              {isBool && whose === "difference" ? <Changes of={row} columns={columns.length} /> : <Cells columns={columns} of={row} />}
            </tr>
          ))}
        </tbody>
      </table>
      {of === "difference" && comparison && comparison.current.count > 0 && (
        <p className="ss-dimmed">
          {text.changedOf(number(comparison.changed_count), number(comparison.current.count))}
          {" "}({percent(comparison.changed_count, comparison.current.count)})
          {!isBool && comparison.update_ratio !== "nan" && ` · ${text.ratio(real(comparison.update_ratio, 4))}`}
        </p>
      )}
    </div>
  );
}

function Cells({ columns, of }: { columns: readonly Figure[]; of: Statistics | undefined }) {
  const text = useText().tensor;
  return columns.map(({ label, value, isBad }) => (
    <td key={label(text)} className={of && isBad?.(of) ? "ss-bad" : undefined}>{of ? value(of) : "…"}</td>
  ));
}

/** Of truths: how many are others now. */
function Changes({ of, columns }: { of: Statistics | undefined; columns: number }) {
  const text = useText().tensor;
  const words = CHANGES.map(({ label, value }) => `${label(text)} ${of ? value(of) : "…"}`);
  return <td colSpan={columns} className="ss-figures-words">{words.join(" · ")}</td>;
}
