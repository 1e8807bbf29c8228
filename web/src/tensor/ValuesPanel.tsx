/** The middle of the view: tools, dimensions, and the part of the tensor that they choose; or why there is none. */

import { useDebouncedValue } from "@mantine/hooks";
import { skipToken, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { ApiError, type JobView, type Schemas } from "../api/client";
import type { TensorPlace } from "../api/queries";
import { beyondQuery } from "../api/views";
import { type Texts, useText } from "../i18n";
import { hasEnded } from "../state/job";
import { type Look, scaleOf, toleratedChange } from "./cells";
import { fieldsAt, type Part, partOf, placeInPart } from "./dims";
import { DownloadMenu } from "./download/DownloadMenu";
import { Failure, Note } from "./Failure";
import { Fields, fieldsFor } from "./Fields";
import { HeatmapPane } from "./heatmap/HeatmapPane";
import { HistogramPane } from "./histogram/HistogramPane";
import { JumpMenu } from "./jump/JumpMenu";
import { useLook } from "./look";
import type { Of, Shown } from "./parts";
import type { Pictured } from "./picture";
import { sheetOf } from "./sheet";
import { Table, type Wish } from "./Table";
import { Tools } from "./Tools";
import type { Form, Known } from "./useFigures";

interface Props {
  job: JobView;
  place: TensorPlace;
  of: Of;
  onOf(of: Of): void;
  moment: string;
  isLive: boolean;
  known: Known;
}

export function ValuesPanel(props: Props) {
  const text = useText();
  const { job, of, onOf, isLive, known } = props;
  const [tolerance, setTolerance] = useState(0);
  const hasTolerance = of === "difference" && known.form?.dtype !== "bool";
  const beyond = useBeyond(props, hasTolerance ? toleratedChange(tolerance, known.figures) : null);
  const tools = (children: React.ReactNode) => (
    <Tools
      of={of} onOf={onOf} hasPrevious={job.step > 0} tolerance={hasTolerance ? tolerance : null} onTolerance={setTolerance}
      beyond={beyond}
    >
      {children}
    </Tools>
  );
  const { form, error } = known;
  const why = error && isLive ? null : reasonOf(job, isLive, form, text);
  return (
    <div className="ss-tensor-values">
      {error && isLive ? (
        <>
          {!hasNoNumbers(error) && tools(null)}
          <Failure error={firstStep(error, job, text)} />
        </>
      ) : !form ? (
        <Note>{why || text.loading}</Note>
      ) : (
        <>
          {why && <p className="ss-banner ss-banner-note" role="status" data-testid="tensor-state">{why}</p>}
          <OfForm {...props} form={form} tolerance={hasTolerance ? tolerance : 0} tools={tools} />
        </>
      )}
    </div>
  );
}

/** There is nothing to choose. */
function hasNoNumbers(error: Error): boolean {
  return error instanceof ApiError && error.code === "no_numbers";
}

/** How many elements of the whole tensor change by more than what is tolerated; asked for once the slider rests. */
function useBeyond({ place, moment, isLive }: Props, tolerated: number | null): Schemas["BeyondView"] | undefined {
  const [threshold] = useDebouncedValue(tolerated, 150);
  const options = beyondQuery(place, moment, "", threshold ?? 0);
  const { data } = useQuery(threshold !== null && isLive ? options : { ...options, queryFn: skipToken });
  return threshold !== null && threshold === tolerated ? data : undefined;
}

/** Why values are old, or none; "" where the training stands and can be asked. */
function reasonOf(job: JobView, isLive: boolean, form: Form | undefined, text: Texts): string {
  const words = text.tensor;
  if (isLive) return "";
  if (hasEnded(job)) return form ? words.endedShown(form.step) : words.ended;
  if (!job.connected) return words.broken;
  return form ? words.running(form.step) : words.runningNothing;
}

function firstStep(error: Error, job: JobView, text: Texts): Error {
  const isMissing = error instanceof ApiError && error.kind === "not_available";
  return isMissing && job.step === 0 ? new Error(text.tensor.noFirst) : error;
}

interface OfFormProps extends Props {
  form: Form;
  tolerance: number;
  tools(children: React.ReactNode): React.ReactNode;
}

function OfForm({ job, place, of, moment, isLive, known, form, tolerance, tools }: OfFormProps) {
  const text = useText();
  const { format, mode, set } = useLook();
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [wish, setWish] = useState<Wish | null>(null);
  const picture = useRef<Pictured>(null);
  const size = form.shape.join();
  const { fields, part, sheet } = useMemo(() => {
    const shape = form.shape;
    const fitting = fieldsFor(chosen, shape);
    const made = partOf(fitting, shape) as Part; // they fit
    return { fields: fitting, part: made, sheet: sheetOf(made) };
    // the same shape may come in another array
  }, [chosen, size]);
  const look = useMemo<Look>(
    () => ({
      of,
      format,
      scale: scaleOf(known.figures, of),
      tolerated: of === "difference" ? toleratedChange(tolerance, known.figures) : null,
      words: text.tensor,
    }),
    [of, format, known.figures, tolerance, text],
  );
  const shown: Shown = {
    job, place, of, index: part.index, partShape: part.shape, fullShape: form.shape, dtype: form.dtype, moment, isLive, figures: known.figures,
  }; // prettier-ignore
  const goTo = (position: readonly number[]) => {
    set({ mode: "table" });
    setWish({ position });
  };
  const goToOther = (position: readonly number[]) => {
    const wanted = fieldsAt(fields, part, position);
    setChosen(wanted);
    goTo(placeInPart(partOf(wanted, form.shape) as Part, position) ?? []);
  };
  const isEmpty = form.shape.includes(0);
  return (
    <>
      {tools(
        <>
          <JumpMenu shown={shown} onJump={goTo} onJumpElsewhere={goToOther} />
          <DownloadMenu shown={shown} picture={mode === "table" ? undefined : () => picture.current?.picture() ?? null} />
        </>,
      )}
      {!isEmpty && <Fields shape={form.shape} fields={fields} part={part} onApply={setChosen} />}
      {isEmpty ? (
        <Note>{text.tensor.emptyTensor}</Note>
      ) : part.shape.includes(0) ? (
        <Note>{text.tensor.emptyPart}</Note>
      ) : mode === "heatmap" ? (
        <HeatmapPane ref={picture} shown={shown} onPick={goTo} />
      ) : mode === "histogram" ? (
        <HistogramPane ref={picture} shown={shown} />
      ) : (
        <Table key={part.index} shown={shown} sheet={sheet} look={look} wish={wish} onWished={() => setWish(null)} isOld={known.isOld} />
      )}
    </>
  );
}
