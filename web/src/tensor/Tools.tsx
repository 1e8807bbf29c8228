/** The view's tools: as what and whose values are shown, tolerance, number format. */

import { NumberInput, SegmentedControl, Select, Slider } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { MOST_DECIMALS, type NumberFormat } from "./cells";
import { type Mode, useLook } from "./look";
import type { Of } from "./parts";

const MODES: readonly Mode[] = ["table", "heatmap", "histogram"];
const OFS: readonly Of[] = ["current", "previous", "difference"];
const FORMATS: readonly NumberFormat["kind"][] = ["auto", "decimal", "scientific"];

interface Props {
  of: Of;
  onOf(of: Of): void;
  hasPrevious: boolean;
  /** Of the comparison; null where it has none. */
  tolerance: number | null;
  onTolerance(percent: number): void;
  /** How many elements change by more than that. */
  beyond: { count: number; of: number } | undefined;
  /** What can be done with the part that is shown. */
  children: ReactNode;
}

export function Tools({ of, onOf, hasPrevious, tolerance, onTolerance, beyond, children }: Props) {
  const text = useText().tensor;
  const { mode, set } = useLook();
  return (
    <div className="ss-tools">
      <SegmentedControl
        size="xs" aria-label={text.mode} value={mode} onChange={(value) => set({ mode: value as Mode })}
        data={MODES.map((value) => ({ value, label: text.modes[value] }))}
      />
      <SegmentedControl
        size="xs" aria-label={text.whose} value={of} onChange={(value) => onOf(value as Of)}
        data={OFS.map((value) => ({ value, label: text[value], disabled: value !== "current" && !hasPrevious }))}
      />
      {mode === "table" && <Format />}
      <span className="ss-grow" />
      {children}
      {tolerance !== null && (
        <div className="ss-tools-change">
          <Tolerance percent={tolerance} onChange={onTolerance} />
          {beyond && <span className="ss-dimmed" data-testid="beyond">{text.beyond(beyond.count, beyond.of)}</span>}
        </div>
      )}
    </div>
  );
}

function Tolerance({ percent, onChange }: { percent: number; onChange(percent: number): void }) {
  const text = useText().tensor;
  const id = useId();
  return (
    <Tooltip label={text.toleranceHint}>
      <div className="ss-tolerance">
        <span id={id}>{text.tolerance}</span>
        <Slider
          size="sm" w={110} min={0} max={100} step={1} value={percent} onChange={onChange} label={null}
          thumbProps={{ "aria-labelledby": id }} aria-labelledby={id}
        />
        <span className="ss-tolerance-value" data-testid="tolerance">{percent} %</span>
      </div>
    </Tooltip>
  );
}

function Format() {
  const text = useText().tensor;
  const { format, set } = useLook();
  return (
    <div className="ss-format">
      <Select
        size="xs" w={104} aria-label={text.format} value={format.kind} allowDeselect={false}
        data={FORMATS.map((value) => ({ value, label: text.formats[value] }))}
        onChange={(kind) => kind && set({ format: { ...format, kind: kind as NumberFormat["kind"] } })}
      />
      {format.kind !== "auto" && (
        <Tooltip label={text.decimals}>
          <NumberInput
            size="xs" w={58} aria-label={text.decimals} value={format.decimals} min={0} max={MOST_DECIMALS} allowDecimal={false} clampBehavior="strict"
            onChange={(decimals) => typeof decimals === "number" && set({ format: { ...format, decimals } })}
          />
        </Tooltip>
      )}
    </div>
  );
}
