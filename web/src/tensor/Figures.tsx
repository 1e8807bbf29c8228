/** The figures of the whole tensor in one line; of a comparison three: this step, the one before, the difference. */

import type { Schemas, Statistics } from "../api/client";
import { useText } from "../i18n";
import { number, percent, real } from "../i18n/numbers";
import type { Of } from "./parts";
import type { tensorZh } from "./text";

type Words = typeof tensorZh;
type Column = { label(text: Words): string; value(of: Statistics): string; isBad?(of: Statistics): boolean };

const isWhole = ({ dtype }: Statistics): boolean => /int/.test(dtype);

function reals(label: Column["label"], name: "max" | "min" | "mean" | "abs_mean" | "std", isOwn = false): Column {
  // a value of the tensor has all its digits; what is worked out needs fewer
  return { label, value: (of) => (of.count === 0 ? "–" : real(of[name], isOwn && isWhole(of) ? 16 : 6)) };
}

function counts(label: Column["label"], name: "zero_count" | "negative_count" | "positive_count"): Column {
  return { label, value: (of) => number(of[name]) };
}

function bads(label: Column["label"], name: "nan_count" | "positive_inf_count" | "negative_inf_count"): Column {
  return { label, value: (of) => number(of[name]), isBad: (of) => of[name] > 0 };
}

const NUMBERS: readonly Column[] = [
  reals((text) => text.max, "max", true),
  reals((text) => text.min, "min", true),
  reals((text) => text.mean, "mean"),
  reals((text) => text.absMean, "abs_mean"),
  reals((text) => text.std, "std"),
  counts((text) => text.zeros, "zero_count"),
  counts((text) => text.negatives, "negative_count"),
  counts((text) => text.positives, "positive_count"),
  bads((text) => text.nan, "nan_count"),
  bads((text) => text.positiveInf, "positive_inf_count"),
  bads((text) => text.negativeInf, "negative_inf_count"),
];
const COUNT: Column = { label: (text) => text.count, value: (of) => number(of.count) };
const TRUTHS: readonly Column[] = [counts((text) => text.trues, "positive_count"), counts((text) => text.falses, "zero_count"), COUNT];
const CHANGES: readonly Column[] = [
  counts((text) => text.changed, "positive_count"),
  counts((text) => text.unchanged, "zero_count"),
];

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
  const isBool = rows[0]?.[1]?.dtype === "bool";
  const columns = isBool ? TRUTHS : [...NUMBERS, COUNT];
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
      {of === "difference" && comparison && (
        <p className="ss-dimmed">
          {text.changedOf(number(comparison.changed_count), number(comparison.current.count))}
          {" "}({percent(comparison.changed_count, comparison.current.count)})
          {!isBool && ` · ${text.ratio(real(comparison.update_ratio, 4))}`}
        </p>
      )}
    </div>
  );
}

function Cells({ columns, of }: { columns: readonly Column[]; of: Statistics | undefined }) {
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
