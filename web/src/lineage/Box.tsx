/** One node of the drawing: its box, and its outputs as small boxes below it. */

import { Tooltip } from "../app/Tooltip";
import { useLanguage, useText } from "../i18n";
import { conditionName } from "../watch/words";
import { useConditions, type Hit } from "../api/watch";
import type { Placed } from "./layout";
import { keyOf } from "./moves";
import { hiddenLabel } from "./sizes";
import type { NodeCard } from "./useDrawing";

interface Props {
  card: NodeCard;
  placed: Placed;
  /** The slot of the tensor whose lineage this is, where it is this node's. */
  centre: number | null;
  /** The slot whose figures are shown, where it is this node's; -1 for the node itself. */
  chosen: number | null;
  /** The stop that Tab leads to. */
  tabStop: string;
  isOrigin: boolean;
  onChoose(slot: number): void;
  onOpen(slot: number): void;
}

export function Box({ card, placed, centre, chosen, tabStop, isOrigin, onChoose, onOpen }: Props) {
  const text = useText().lineage;
  const { node, op, rest, slots, hidden, step } = card;
  const first = slots[0]?.slot ?? -1;
  const classes = [
    "ss-lin-node", `ss-lin-${node.type}`, centre !== null && "is-centre", chosen !== null && "is-chosen",
    step > 0 && "is-step", isOrigin && "is-origin",
  ];
  const { x, y, width, height } = placed;
  return (
    <>
      <Tooltip label={isOrigin ? `${node.id}\n${text.began}` : node.id}>
        <div
          className={classes.filter(Boolean).join(" ")} style={{ left: x, top: y, width, height }} data-testid="lineage-node"
          data-name={node.id} data-step={step || undefined} data-origin={isOrigin || undefined}
          {...(slots.length === 0 ? stop(node.id, tabStop) : {})}
          onClick={() => onChoose(first)} onDoubleClick={() => first >= 0 && onOpen(first)}
        >
          {step > 0 && <span className="ss-lin-number" title={text.step(step)}>{step}</span>}
          <span className="ss-lin-name">{op && <strong>{op}</strong>}{rest}</span>
        </div>
      </Tooltip>
      {placed.slots.map(({ slot, ...at }, place) => (
        <Slot
          key={slot} id={node.id} slot={slot} label={slots[place]!.label} hits={slots[place]!.hits} at={at} tabStop={tabStop}
          isCentre={centre === slot} isChosen={chosen === slot} onChoose={() => onChoose(slot)} onOpen={() => onOpen(slot)}
        />
      ))}
      {hidden > 0 && (
        <span
          className="ss-lin-hidden" title={text.hiddenSlots(hidden)}
          style={{ left: (placed.slots.at(-1)?.x ?? x) + (placed.slots.at(-1)?.width ?? 0) + 4, top: y + height }}
        >
          {hiddenLabel(hidden)}
        </span>
      )}
    </>
  );
}

/** A box without outputs is a stop of the keyboard itself. */
function stop(id: string, tabStop: string) {
  const key = keyOf(id, -1);
  return { role: "button", tabIndex: key === tabStop ? 0 : -1, "data-stop": key, "aria-label": id };
}

interface SlotProps {
  id: string;
  slot: number;
  label: string;
  hits: readonly Hit[];
  at: { x: number; y: number; width: number; height: number };
  tabStop: string;
  isCentre: boolean;
  isChosen: boolean;
  onChoose(): void;
  onOpen(): void;
}

function Slot({ id, slot, label, hits, at, tabStop, isCentre, isChosen, onChoose, onOpen }: SlotProps) {
  const text = useText().lineage;
  const language = useLanguage((state) => state.language);
  const conditions = useConditions();
  const names = (isReal: boolean) => {
    const own = hits.filter(({ error }) => (error.length === 0) === isReal);
    return [...new Set(own.map(({ condition }) => conditionName(conditions, condition, language)))].join(", ");
  };
  const [hit, failed] = [names(true), names(false)];
  const classes = [
    "ss-lin-slot", isCentre && "is-centre", isChosen && "is-chosen", hit && "is-hit", failed && !hit && "is-error",
  ];
  const said = [`${id}:${slot}`, hit && text.hitBy(hit), failed && text.notEvaluated(failed), isCentre && text.selected].filter(Boolean);
  const key = keyOf(id, slot);
  return (
    <Tooltip label={said.join("\n")}>
      <button
        type="button" className={classes.filter(Boolean).join(" ")} style={{ left: at.x, top: at.y, width: at.width, height: at.height }}
        data-testid="lineage-slot" data-tensor={`${id}:${slot}`} data-stop={key} tabIndex={key === tabStop ? 0 : -1}
        aria-label={said.join(", ")} aria-pressed={isChosen} aria-current={isCentre || undefined}
        onClick={onChoose} onDoubleClick={onOpen}
      >
        {label}
      </button>
    </Tooltip>
  );
}
