/** The dimensions, a field each: an index or a slice. What can't be read says so below its field; the part shown stays. */

import { TextInput } from "@mantine/core";
import { type KeyboardEvent, useEffect, useState } from "react";
import { Tooltip } from "../app/Tooltip";
import { shapeText } from "../details/format";
import { useText } from "../i18n";
import { firstChoice, type Mistake, type Part, partOf, stepField } from "./dims";

interface Props {
  shape: readonly number[];
  /** As they were applied last. */
  fields: readonly string[];
  part: Part;
  onApply(fields: string[]): void;
}

const NO_MISTAKES: ReadonlyMap<number, Mistake> = new Map();

export function Fields({ shape, fields, part, onApply }: Props) {
  const text = useText();
  const [drafts, setDrafts] = useState<readonly string[]>(fields);
  const [mistakes, setMistakes] = useState(NO_MISTAKES);
  useEffect(() => {
    setDrafts(fields);
    setMistakes(NO_MISTAKES);
  }, [fields]);

  const apply = (wanted: readonly string[]) => {
    const made = partOf(wanted, shape);
    if (made instanceof Map) setMistakes(made);
    else if (made.index !== part.index) onApply([...wanted]);
    else setMistakes(NO_MISTAKES);
  };
  const type = (dimension: number, typed: string): readonly string[] => {
    const next = drafts.map((draft, each) => (each === dimension ? typed : draft));
    setDrafts(next);
    return next;
  };
  const press = (event: KeyboardEvent<HTMLInputElement>, dimension: number) => {
    if (event.key === "Enter") apply(drafts);
    if (event.key === "Escape" && (mistakes.size > 0 || drafts[dimension] !== fields[dimension])) {
      event.preventDefault(); // takes back what was typed, and closes nothing
      setDrafts(fields);
      setMistakes(NO_MISTAKES);
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const next = stepField(drafts[dimension] ?? "", event.key === "ArrowUp" ? 1 : -1, shape[dimension] ?? 0);
    if (next === null) return;
    event.preventDefault();
    apply(type(dimension, next));
  };

  if (shape.length === 0) return null;
  return (
    <div className="ss-fields" role="group" aria-label={text.tensor.dimensions}>
      {shape.map((size, dimension) => {
        const mistake = mistakes.get(dimension);
        return (
          <Tooltip key={dimension} label={text.tensor.dimensionHint}>
            <div className="ss-field">
              <TextInput
                size="xs" label={text.tensor.dimension(dimension, size)} value={drafts[dimension] ?? ""} spellCheck={false} autoComplete="off"
                error={mistake && text.tensor.mistakes[mistake]?.(size)} data-testid={`dimension-${dimension}`}
                onChange={(event) => type(dimension, event.currentTarget.value)} onBlur={() => apply(drafts)}
                onKeyDown={(event) => press(event, dimension)}
              />
            </div>
          </Tooltip>
        );
      })}
      <span className="ss-field-note ss-dimmed" data-testid="part-shape">{text.tensor.partShape(shapeText(part.shape, text))}</span>
    </div>
  );
}

/** The fields to begin with where what was chosen is not there, or does not fit the shape (any more). */
export function fieldsFor(chosen: readonly string[] | null, shape: readonly number[]): readonly string[] {
  const fits = chosen !== null && chosen.length === shape.length && !(partOf(chosen, shape) instanceof Map);
  return fits ? chosen : firstChoice(shape);
}
