/** The cells of a tensor that have to be asked for: step, value, change; with type and shape as they really are. */

import { Button, Table } from "@mantine/core";
import { skipToken, useQuery } from "@tanstack/react-query";
import { ApiError, type JobView, type Schemas, type Statistics } from "../api/client";
import { compareQuery, statsQuery, type TensorPlace } from "../api/queries";
import { valuesQuery } from "../api/tensor";
import { Tooltip } from "../app/Tooltip";
import { type Texts, useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { number, percent, real } from "../i18n/numbers";
import { hasEnded, useMoment } from "../state/job";
import { useView } from "../state/view";
import { valueText } from "../tensor/cells";
import { shapeText } from "./format";
import type { TensorRow } from "./TensorTable";

interface Props {
  job: JobView;
  row: TensorRow;
  place: TensorPlace;
  onView(): void;
}

/**
 * Everything of a tensor but its values, from as few questions as possible: the comparison has the figures, too. Nothing
 * is asked for while one tensor covers the table.
 */
function useFigures(job: JobView, place: TensorPlace) {
  const { moment, isLive: canAsk } = useMoment(job);
  const isLive = useView((state) => state.tensor === null) && canAsk;
  const isFirst = job.step === 0; // nothing to compare with
  const compareOptions = compareQuery(place, moment);
  const compare = useQuery(isLive && !isFirst ? compareOptions : { ...compareOptions, queryFn: skipToken });
  const statsOptions = statsQuery(place, moment);
  const needsStats = isLive && (isFirst || isUnavailable(compare.error));
  const stats = useQuery(needsStats ? statsOptions : { ...statsOptions, queryFn: skipToken });
  const figures: Statistics | undefined = compare.data?.current ?? stats.data;
  const error = isFirst || isUnavailable(compare.error) ? stats.error : compare.error;
  return { moment, isLive, compare, figures, error };
}

function isUnavailable(error: Error | null): boolean {
  return error instanceof ApiError && error.kind === "not_available";
}

export function TensorCells({ job, row, place, onView }: Props) {
  const text = useText();
  const { moment, isLive, compare, figures, error } = useFigures(job, place);
  const shape = figures?.shape ?? row.shape;
  return (
    <>
      <Table.Td className="ss-col-step">{figures ? number(figures.step) : "–"}</Table.Td>
      <Table.Td className="ss-col-type ss-mono">{figures?.dtype || row.dtype || "–"}</Table.Td>
      <Table.Td className="ss-col-shape ss-mono">{shapeText(shape, text)}</Table.Td>
      <Table.Td className="ss-col-value">
        {figures ? (
          <Value place={place} moment={moment} figures={figures} isLive={isLive} row={row} onView={onView} />
        ) : (
          <Missing job={job} isLive={isLive} error={error} />
        )}
      </Table.Td>
      <Table.Td className="ss-col-change">
        {compare.data ? (
          <Change comparison={compare.data} />
        ) : figures ? (
          <span className="ss-dimmed">{text.noPrevious}</span>
        ) : null}
      </Table.Td>
    </>
  );
}

interface ValueProps {
  place: TensorPlace;
  moment: string;
  figures: Statistics;
  isLive: boolean;
  row: TensorRow;
  onView(): void;
}

function Value({ place, moment, figures, isLive, row, onView }: ValueProps) {
  const text = useText();
  const options = valuesQuery(place, moment, "current", "");
  const isOne = figures.shape.length === 0;
  const values = useQuery(isOne && isLive ? options : { ...options, queryFn: skipToken });
  if (isOne) {
    const bad = figures.nan_count + figures.positive_inf_count + figures.negative_inf_count > 0;
    return (
      <button type="button" className="ss-link" aria-label={text.viewOf(`${row.name}:${row.slot}`)} disabled={!isLive} onClick={onView}>
        <span className={bad ? "ss-mono ss-bad" : "ss-mono"} data-testid="value">{values.data ? valueText(values.data, 0) : "…"}</span>
      </button>
    );
  }
  return (
    <span className="ss-value">
      <Button size="compact-xs" variant="light" disabled={!isLive} aria-label={text.viewOf(`${row.name}:${row.slot}`)} onClick={onView}>
        {text.view}
      </Button>
      <Specials figures={figures} />
    </span>
  );
}

function Specials({ figures }: { figures: Statistics }) {
  const text = useText();
  const infinite = figures.positive_inf_count + figures.negative_inf_count;
  if (figures.nan_count > 0 || infinite > 0) {
    const words = [
      figures.nan_count > 0 ? `${number(figures.nan_count)} ${text.nanCount}` : "",
      infinite > 0 ? `${number(infinite)} ${text.infCount}` : "",
    ];
    return <strong className="ss-bad">{words.filter(Boolean).join(", ")}</strong>;
  }
  if (figures.count === 0 || figures.dtype === "bool") return null;
  return <span className="ss-dimmed ss-mono">{`${real(figures.min, 3)} … ${real(figures.max, 3)}`}</span>;
}

function Missing({ job, isLive, error }: { job: JobView; isLive: boolean; error: Error | null }) {
  const text = useText();
  if (error) {
    const label = errorText(error, text);
    const short = isUnavailable(error) && job.step === 0 ? text.noValueYet : text.noValue;
    return <Tooltip label={label}><span className="ss-dimmed" tabIndex={0}>{short}</span></Tooltip>;
  }
  if (isLive) return <span className="ss-dimmed">…</span>;
  return <span className="ss-dimmed">{hasEnded(job) ? text.valueGone : text.valueRunning}</span>;
}

function Change({ comparison }: { comparison: Schemas["ComparisonView"] }) {
  const text = useText();
  return <Tooltip label={text.ratio(real(comparison.update_ratio, 4))}><span>{changeText(comparison, text)}</span></Tooltip>;
}

function changeText({ changed_count, current, difference }: Schemas["ComparisonView"], text: Texts): string {
  if (changed_count === 0) return text.unchanged;
  if (current.shape.length === 0) {
    const by = real(difference.mean, 4);
    return typeof difference.mean === "number" && difference.mean > 0 ? `+${by}` : by.replace("-", "−");
  }
  const share = text.changedShare(percent(changed_count, current.count));
  return `${share} · ${text.meanChange(real(difference.abs_mean, 3))}`;
}
