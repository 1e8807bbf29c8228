/** The two bars on top: product, training, state, language, colours; and the facts of the training. */

import { ActionIcon, SegmentedControl, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import type { JobView } from "../api/client";
import { useActions } from "../control/actions";
import { type Language, useLanguage, useText } from "../i18n";
import { number, real } from "../i18n/numbers";
import { isTerminating } from "../state/job";
import { HelpIcon, MoonIcon, SunIcon } from "./icons";
import { JobPicker } from "./JobPicker";
import { Tooltip } from "./Tooltip";

export function TopBar({ jobs, job }: { jobs: readonly JobView[]; job: JobView | null }) {
  const text = useText();
  return (
    <header className="ss-header">
      <div className="ss-topbar">
        <a className="ss-product" href="#/">
          <img src="/icon.svg" alt="" width={22} height={22} />
          <span>{text.product}</span>
        </a>
        {jobs.length > 0 && <JobPicker jobs={jobs} job={job} />}
        {job && <StateLine job={job} />}
        <span className="ss-grow" />
        <LanguageSwitch />
        <ColourSwitch />
        <HelpButton />
      </div>
      {job && <Facts job={job} />}
    </header>
  );
}

function StateLine({ job }: { job: JobView }) {
  const text = useText();
  const reasons: Record<string, string> = text.reason;
  const isOver = job.reason === "watchpoint" && job.hits === 0; // checked again, and nothing is hit any more
  const why = job.state === "paused" ? (isOver ? "" : (reasons[job.reason] ?? "")) : isTerminating(job) ? text.terminating : "";
  const at = job.cursor ? text.position(job.cursor.position, job.cursor.count) : "";
  const side = job.cursor?.moment === "before" ? text.notRunYet : "";
  return (
    <span className="ss-state" role="status" data-testid="state" data-state={job.state}>
      <span className={`ss-dot ss-dot-${job.state}`} />
      <strong>{text.state[job.state]}</strong>
      <span className="ss-state-why">{[why, at, side].filter(Boolean).join(" · ")}</span>
    </span>
  );
}

function Facts({ job }: { job: JobView }) {
  const text = useText();
  const framework = `${FRAMEWORKS[job.framework] ?? job.framework} ${job.framework_version}`.trim();
  return (
    <dl className="ss-facts">
      <Fact name={text.address} value={job.address} />
      <Fact name={text.rank} value={text.rankOf(job.rank, job.rank_count)} />
      <Fact name={text.device} value={job.device} />
      <Fact name={text.framework} value={framework} />
      <Fact name={text.step} value={number(job.step)} note={job.step === 0 ? `(${text.stepZero})` : ""} testid="step" />
      {job.loss !== null && <Fact name={text.loss} value={real(job.loss)} />}
    </dl>
  );
}

const FRAMEWORKS: Record<string, string> = { mindspore: "MindSpore", torch: "PyTorch", jax: "JAX" };

function Fact({ name, value, note, testid }: { name: string; value: string; note?: string; testid?: string }) {
  return (
    <div className="ss-fact">
      <dt>{name}</dt>
      <dd>
        <span data-testid={testid}>{value || "–"}</span>
        {note && <span className="ss-fact-note"> {note}</span>}
      </dd>
    </div>
  );
}

function LanguageSwitch() {
  const text = useText();
  const { language, setLanguage } = useLanguage();
  return (
    <SegmentedControl
      size="xs"
      aria-label={text.language}
      value={language}
      onChange={(value) => setLanguage(value as Language)}
      data={[
        { value: "zh", label: "中" },
        { value: "en", label: "EN" },
      ]}
    />
  );
}

function ColourSwitch() {
  const text = useText();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light") === "dark";
  const label = isDark ? text.light : text.dark;
  return (
    <Tooltip label={label}>
      <ActionIcon className="ss-bar-icon" aria-label={label} onClick={() => setColorScheme(isDark ? "light" : "dark")}>
        {isDark ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  );
}

function HelpButton() {
  const text = useText();
  const actions = useActions();
  return (
    <Tooltip label={`${text.help} (?)`}>
      <ActionIcon className="ss-bar-icon" aria-label={text.help} aria-keyshortcuts="?" onClick={() => actions.do("help")}>
        <HelpIcon />
      </ActionIcon>
    </Tooltip>
  );
}
