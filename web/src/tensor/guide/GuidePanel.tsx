/** The tuning guide: what was hit, what that means and what to check; and what the data themselves say. */

import { Button, Loader } from "@mantine/core";
import { skipToken, useQuery } from "@tanstack/react-query";
import { guideQuery } from "../../api/advice";
import type { JobView, Schemas } from "../../api/client";
import type { TensorPlace } from "../../api/queries";
import { type Condition, type Hit, useConditions } from "../../api/watch";
import { TargetIcon } from "../../app/icons";
import { useLanguage, useText } from "../../i18n";
import { errorText } from "../../i18n/errors";
import { hasEnded, useMoment } from "../../state/job";
import { HitText } from "../../watch/HitRow";
import { linkLabel, type Piece, sentenceOf, type TensorLink } from "./facts";
import "./guide.css";

interface Props {
  job: JobView;
  place: TensorPlace;
  /** Where there are none, nothing is said of them. */
  hasValues: boolean;
  onOpen(tensor: TensorLink): void;
  onTrace(): void;
}

export default function GuidePanel({ job, place, hasValues, onOpen, onTrace }: Props) {
  const text = useText();
  const { moment, isLive } = useMoment(job);
  const options = guideQuery(job, place, moment);
  const { data, error } = useQuery(isLive ? options : { ...options, queryFn: skipToken });
  return (
    <section className="ss-guide" aria-label={text.guide.title} data-testid="guide" tabIndex={0}>
      <Button
        size="compact-xs" variant="light" fullWidth leftSection={<TargetIcon size={12} />} disabled={!isLive} onClick={onTrace}
      >
        {text.guide.trace}
      </Button>
      {error ? (
        <p role="alert">{errorText(error, text)}</p>
      ) : data ? (
        <Known guide={data} hasValues={hasValues} onOpen={onOpen} />
      ) : isLive ? (
        <p className="ss-guide-wait"><Loader size={12} aria-hidden /> {text.guide.waiting}</p>
      ) : (
        <p className="ss-dimmed">{hasEnded(job) ? text.error.gone : text.guide.paused}</p>
      )}
    </section>
  );
}

type KnownProps = Pick<Props, "hasValues" | "onOpen"> & { guide: Schemas["GuideView"] };

function Known({ guide: { hits, facts }, hasValues, onOpen }: KnownProps) {
  const text = useText().guide;
  const conditions = useConditions();
  const said = facts.flatMap((fact) => {
    const pieces = sentenceOf(fact, text);
    return pieces ? [{ level: fact.level, pieces }] : [];
  });
  if (hits.length === 0 && said.length === 0) return <p className="ss-dimmed" data-testid="guide-empty">{hasValues ? text.nothing : text.noHits}</p>;
  return (
    <>
      <h3>{text.hits}</h3>
      {hits.length === 0 && <p className="ss-dimmed">{text.noHits}</p>}
      {hits.map((hit) => <OfHit key={`${hit.watchpoint} ${hit.rank}`} hit={hit} conditions={conditions} />)}
      {hasValues && <h3>{text.data}</h3>}
      {hasValues && said.length === 0 && <p className="ss-dimmed">{text.noFacts}</p>}
      <ul className="ss-guide-facts">
        {said.map(({ level, pieces }, at) => (
          <li key={at} className={level === "bad" ? "is-bad" : undefined} data-testid="fact">
            {pieces.map((piece, place) => <OnePiece key={place} piece={piece} onOpen={onOpen} />)}
          </li>
        ))}
      </ul>
    </>
  );
}

function OfHit({ hit, conditions }: { hit: Hit; conditions: readonly Condition[] }) {
  const text = useText().guide;
  const language = useLanguage((state) => state.language);
  const condition = conditions.find(({ id }) => id === hit.condition);
  const isError = hit.error.length > 0;
  return (
    <article className={isError ? "ss-guide-hit ss-hit-error" : "ss-guide-hit"} data-testid="guide-hit">
      <HitText hit={hit} conditions={conditions} />
      {condition && (
        <>
          <h4>{text.meaning}</h4>
          <p>{condition.description[language]}</p>
          {condition.advice.length > 0 && <h4>{text.check}</h4>}
          <ul>{condition.advice.map((line) => <li key={line.en}>{line[language]}</li>)}</ul>
        </>
      )}
    </article>
  );
}

function OnePiece({ piece, onOpen }: { piece: Piece; onOpen(tensor: TensorLink): void }) {
  if (typeof piece === "string") return piece;
  return (
    <button type="button" className="ss-link" title={`${piece.node}:${piece.slot}`} onClick={() => onOpen(piece)}>
      <bdi>{linkLabel(piece)}</bdi>
    </button>
  );
}
