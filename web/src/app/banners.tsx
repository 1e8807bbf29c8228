/** Lines across the page that say what is not as usual: no server, the training's end, a warning of the training. */

import { useText } from "../i18n";
import type { JobView } from "../api/client";
import { useConnection } from "../state/events";
import { hasEnded } from "../state/job";

export function ConnectionBanner() {
  const text = useText();
  const state = useConnection((each) => each.state);
  return (
    <div role="status">{state === "broken" && <div className="ss-banner ss-banner-bad">{text.unreachable}</div>}</div>
  );
}

export function JobBanners({ job }: { job: JobView }) {
  const text = useText();
  return (
    <div role="status">
      {hasEnded(job) && <EndBanner job={job} />}
      {job.notes?.map((note) => (
        <div className="ss-banner ss-banner-warn" key={note}>
          {text.notes[note as keyof typeof text.notes]?.(job.skipped_updates ?? 0) ?? note}
        </div>
      ))}
      {job.warning && <div className="ss-banner ss-banner-warn">{job.warning}</div>}
    </div>
  );
}

function EndBanner({ job }: { job: JobView }) {
  const text = useText();
  const { exit } = job;
  // Lost without an exit status: nobody has seen it end, and it may come back.
  const isBroken = job.state === "lost" && (exit?.exit_status ?? null) === null;
  const outcome = isBroken ? null : (exit?.outcome ?? "finished");
  const what =
    outcome === null
      ? text.endBroken
      : { finished: text.endFinished, terminated: text.endTerminated, lost: text.endLost }[outcome];
  const status = exit?.exit_status ?? null;
  const facts = [
    status === null || outcome === "terminated" || (status === 0 && outcome !== "lost") ? "" : text.endStatus(status),
    text.endStep(job.step),
    status === null && !isBroken ? (exit?.detail ?? "") : "", // else it has been said in the user's language
  ].filter(Boolean);
  return (
    <div
      className={`ss-banner ${job.state === "lost" ? "ss-banner-bad" : "ss-banner-end"}`} data-testid="end-banner"
      title={isBroken ? exit?.detail : undefined}
    >
      <strong>{what}</strong>
      <span>{facts.join(" · ")}</span>
      {outcome !== null && <span className="ss-banner-note">{text.endReview}</span>}
    </div>
  );
}
