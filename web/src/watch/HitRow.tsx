/** One hit: where, by which watchpoint, what was set and what was found, or why it could not be evaluated. */

import type { CSSProperties, Ref } from "react";
import type { Condition, Hit } from "../api/watch";
import { useLanguage, useText } from "../i18n";
import { conditionName, hitLines } from "./words";

interface Props {
  ref: Ref<HTMLDivElement>;
  id: string;
  /** Undefined while it is on its way. */
  hit: Hit | undefined;
  conditions: readonly Condition[];
  at: number;
  total: number;
  isActive: boolean;
  isChosen: boolean;
  hasRanks: boolean;
  style: CSSProperties;
  "data-index": number;
  onChoose(hit: Hit): void;
  onTensor(hit: Hit): void;
}

export function HitRow({ ref, id, hit, conditions, at, total, isActive, isChosen, hasRanks, style, onChoose, onTensor, ...rest }: Props) {
  const text = useText().watch;
  const isError = (hit?.error.length ?? 0) > 0;
  const classes = ["ss-hit", isActive && "ss-hit-active", isChosen && "ss-row-selected", isError && "ss-hit-error"];
  return (
    <div
      ref={ref} id={id} className={classes.filter(Boolean).join(" ")} style={style} data-index={rest["data-index"]} role="option"
      aria-selected={isChosen} aria-posinset={at + 1} aria-setsize={total} data-testid="hit" data-node={hit?.node}
      onClick={() => hit && onChoose(hit)} onDoubleClick={() => hit && onTensor(hit)}
    >
      {hit ? <Body hit={hit} conditions={conditions} isChosen={isChosen} hasRanks={hasRanks} onTensor={onTensor} /> : <span className="ss-dimmed">{text.loadingHits}</span>}
    </div>
  );
}

type BodyProps = Pick<Props, "conditions" | "isChosen" | "hasRanks" | "onTensor"> & { hit: Hit };

function Body({ hit, conditions, isChosen, hasRanks, onTensor }: BodyProps) {
  const { watch: text, tensor: words } = useText();
  const slash = hit.node.lastIndexOf("/");
  const scope = hit.node.slice(0, Math.max(slash, 0));
  return (
    <>
      <div className="ss-hit-node" title={hit.node}>
        <strong className="ss-ellipsis">{hit.node.slice(slash + 1)}</strong>
        <span className="ss-dimmed">{[text.slot(hit.slot), hasRanks ? text.rank(hit.rank) : ""].filter(Boolean).join(" · ")}</span>
        <span className="ss-grow" />
        <span
          className="ss-hit-open" data-tip={words.openHitHint} data-testid="hit-tensor" aria-hidden
          onClick={(event) => {
            event.stopPropagation(); // an option can't have a button of its own: the list has a key for it
            onTensor(hit);
          }}
        >
          {words.openHit}
        </span>
      </div>
      {scope && <div className="ss-hit-scope ss-ellipsis ss-ellipsis-start" title={hit.node}><bdi>{scope}</bdi></div>}
      <HitText hit={hit} conditions={conditions} />
      {isChosen && hit.error.length === 0 && <Advice hit={hit} conditions={conditions} />}
    </>
  );
}

/** The watchpoint and what it found, as the list and the table of tensors show it. */
export function HitText({ hit, conditions }: { hit: Hit; conditions: readonly Condition[] }) {
  const text = useText().watch;
  const language = useLanguage((state) => state.language);
  const { checks, reasons } = hitLines(conditions, hit, language, text);
  return (
    <div className="ss-hit-text">
      <div>
        <span className="ss-watch-id">{hit.watchpoint}</span> {hit.watchpoint_name && <strong>{hit.watchpoint_name} </strong>}
        {conditionName(conditions, hit.condition, language)}
      </div>
      {checks.map(({ label, set, actual }) => (
        <div key={label} className="ss-hit-check" data-testid="hit-check">
          {label} <span className="ss-dimmed">{text.set(set)}</span>
          {actual && <>{" · "}<strong className="ss-bad">{text.actual(actual)}</strong></>}
        </div>
      ))}
      {reasons.length > 0 && (
        <div className="ss-hit-check ss-hit-reason" data-testid="hit-reason">{text.notEvaluated}: {reasons.join("; ")}</div>
      )}
    </div>
  );
}

function Advice({ hit, conditions }: { hit: Hit; conditions: readonly Condition[] }) {
  const language = useLanguage((state) => state.language);
  const advice = conditions.find(({ id }) => id === hit.condition)?.advice ?? [];
  return <ul className="ss-hit-advice" data-testid="advice">{advice.map((line) => <li key={line.en}>{line[language]}</li>)}</ul>;
}
