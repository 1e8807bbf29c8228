/**
 * A first table of a tensor's values: a window of its last two dimensions, the others at one index each. Only the
 * window is asked for, so the size of the tensor does not matter.
 */

import { ActionIcon, Drawer, Group, NumberInput, SegmentedControl } from "@mantine/core";
import { skipToken, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { JobView } from "../api/client";
import { statsQuery } from "../api/queries";
import { type Values, valuesQuery } from "../api/tensor";
import { LeftIcon, RightIcon } from "../app/icons";
import { useText } from "../i18n";
import { number, real } from "../i18n/numbers";
import { useMoment } from "../state/job";
import { errorText, shapeText } from "./format";
import type { TensorRow } from "./TensorTable";

const ROWS = 50;
const COLUMNS = 20;

interface Props {
  job: JobView;
  row: TensorRow | null;
  onClose(): void;
}

export default function ValuesDrawer({ job, row, onClose }: Props) {
  const text = useText();
  const title = row ? `${row.name}:${row.slot}` : "";
  return (
    <Drawer
      opened={row !== null} onClose={onClose} position="right" size="xl"
      title={<span className="ss-mono ss-wrap">{title}</span>}
      closeButtonProps={{ "aria-label": text.close }}
    >
      {row?.place && <Content key={`${row.key} ${title}`} job={job} row={row} />}
    </Drawer>
  );
}

function Content({ job, row }: { job: JobView; row: TensorRow }) {
  const text = useText();
  const { moment, isLive } = useMoment(job);
  const [when, setWhen] = useState<"current" | "previous">("current");
  const place = row.place!;
  const statsOptions = statsQuery(place, moment, when);
  const stats = useQuery(isLive ? statsOptions : { ...statsOptions, queryFn: skipToken });
  const figures = stats.data;
  return (
    <div className="ss-values">
      <Group justify="space-between">
        <SegmentedControl
          size="xs" aria-label={text.stepOf} value={when} onChange={(value) => setWhen(value as typeof when)}
          data={[{ value: "current", label: text.current }, { value: "previous", label: text.previous }]}
        />
        {figures && (
          <span className="ss-dimmed">
            {text.stepOf} {number(figures.step)} · {figures.dtype} · {text.wholeShape(shapeText(figures.shape, text))}
          </span>
        )}
      </Group>
      {stats.error && <p className="ss-note" role="alert">{errorText(stats.error, text)}</p>}
      {figures && (
        <>
          <dl className="ss-statistics" aria-label={text.statistics}>
            {(["min", "max", "mean", "std"] as const).map((name) => (
              <Figure key={name} name={text[name]} value={real(figures[name])} />
            ))}
            <Figure name={text.zeros} value={number(figures.zero_count)} />
            <Figure name={text.nanCount} value={number(figures.nan_count)} bad={figures.nan_count > 0} />
            <Figure
              name={text.infCount} value={number(figures.positive_inf_count + figures.negative_inf_count)}
              bad={figures.positive_inf_count + figures.negative_inf_count > 0}
            />
            <Figure name={text.count} value={number(figures.count)} />
          </dl>
          {figures.count === 0 ? (
            <p className="ss-note">{text.emptyTensor}</p>
          ) : (
            <Window job={job} row={row} when={when} shape={figures.shape} />
          )}
        </>
      )}
    </div>
  );
}

function Figure({ name, value, bad }: { name: string; value: string; bad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={bad ? "ss-mono ss-bad" : "ss-mono"}>{value}</dd>
    </div>
  );
}

interface WindowProps {
  job: JobView;
  row: TensorRow;
  when: "current" | "previous";
  shape: number[];
}

function Window({ job, row, when, shape }: WindowProps) {
  const text = useText();
  const { moment, isLive } = useMoment(job);
  const leading = shape.slice(0, -2);
  const [at, setAt] = useState<number[]>(leading.map(() => 0));
  const [corner, setCorner] = useState({ row: 0, column: 0 });
  const size = shape.join();
  useEffect(() => {
    setAt(size.split(",").slice(0, -2).map(() => 0));
    setCorner({ row: 0, column: 0 });
  }, [size]);
  const rows = shape.length > 1 ? (shape.at(-2) ?? 1) : 1;
  const columns = shape.at(-1) ?? 1;
  const lastRow = Math.min(rows, corner.row + ROWS);
  const lastColumn = Math.min(columns, corner.column + COLUMNS);
  const parts = at.map(String);
  if (shape.length > 1) parts.push(`${corner.row}:${lastRow}`);
  if (shape.length > 0) parts.push(`${corner.column}:${lastColumn}`);
  const options = valuesQuery(row.place!, moment, when, parts.join(", "));
  const { data, error } = useQuery(isLive && at.length === leading.length ? options : { ...options, queryFn: skipToken });
  return (
    <>
      <Group gap="sm" my="xs">
        {leading.map((most, dimension) => (
          <NumberInput
            key={dimension} size="xs" w={150} label={`${text.dimension(dimension)} (0–${most - 1})`} min={0} max={most - 1}
            clampBehavior="strict" allowDecimal={false} value={at[dimension] ?? 0}
            onChange={(value) => typeof value === "number" && setAt(at.map((old, each) => (each === dimension ? value : old)))}
          />
        ))}
        {rows > ROWS && (
          <Range label={text.rows} from={corner.row} to={lastRow} of={rows} by={ROWS} onChange={(value) => setCorner({ ...corner, row: value })} />
        )}
        {columns > COLUMNS && (
          <Range label={text.columns} from={corner.column} to={lastColumn} of={columns} by={COLUMNS} onChange={(value) => setCorner({ ...corner, column: value })} />
        )}
      </Group>
      {error && <p className="ss-note" role="alert">{errorText(error, text)}</p>}
      {data && <Grid values={data} row={corner.row} column={corner.column} columns={lastColumn - corner.column} />}
    </>
  );
}

interface RangeProps {
  label: string;
  from: number;
  to: number;
  of: number;
  by: number;
  onChange(from: number): void;
}

function Range({ label, from, to, of, by, onChange }: RangeProps) {
  const text = useText();
  return (
    <Group gap={4}>
      <span>{label}</span>
      <ActionIcon size="sm" aria-label={`${label}: ${text.earlierPart}`} disabled={from === 0} onClick={() => onChange(Math.max(0, from - by))}>
        <LeftIcon size={12} />
      </ActionIcon>
      <span>{text.range(from, to - 1, of)}</span>
      <ActionIcon size="sm" aria-label={`${label}: ${text.laterPart}`} disabled={to >= of} onClick={() => onChange(from + by)}>
        <RightIcon size={12} />
      </ActionIcon>
    </Group>
  );
}

function Grid({ values, row, column, columns }: { values: Values; row: number; column: number; columns: number }) {
  const text = useText();
  const rows = Math.max(1, Math.round(values.length / columns));
  const across = Array.from({ length: columns }, (_, at) => at);
  return (
    <div className="ss-grid-box" tabIndex={0} role="region" aria-label={text.values}>
      <table className="ss-grid">
        <thead>
          <tr>
            <th />
            {across.map((at) => <th key={at} scope="col">{column + at}</th>)}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, down) => (
            <tr key={down}>
              <th scope="row">{row + down}</th>
              {across.map((at) => {
                const place = down * columns + at;
                return <td key={at} className={values.isSpecial(place) ? "ss-bad" : undefined}>{values.text(place)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
