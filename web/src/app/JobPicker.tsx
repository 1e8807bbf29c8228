/** The choice of the training: newest first, with its state and when it started. */

import { Select } from "@mantine/core";
import type { JobView } from "../api/client";
import { useLanguage, useText } from "../i18n";
import { go } from "../state/address";

export function JobPicker({ jobs, job }: { jobs: readonly JobView[]; job: JobView | null }) {
  const text = useText();
  const language = useLanguage((state) => state.language);
  const data = [...jobs].reverse().map((each) => ({ value: each.id, label: labelOf(each) }));
  return (
    <Select
      className="ss-jobs"
      size="xs"
      aria-label={text.job}
      placeholder={text.jobs}
      data={data}
      value={job?.id ?? null}
      allowDeselect={false}
      comboboxProps={{ width: 380, position: "bottom-start" }}
      renderOption={({ option }) => {
        const of = jobs.find((each) => each.id === option.value);
        if (!of) return option.label;
        return (
          <div className="ss-job-option">
            <span className={`ss-dot ss-dot-${of.state}`} />
            <div>
              <div>{option.label}</div>
              <small>
                {text.state[of.state]} · {text.stepOf} {of.step} · {text.started(when(of.started_at, language))}
              </small>
            </div>
          </div>
        );
      }}
      onChange={(id) => id !== null && id !== job?.id && go({ job: id, graph: null, selected: null })}
    />
  );
}

/** Script and process; the rank where there are several. */
function labelOf(job: JobView): string {
  const rank = job.rank_count > 1 ? ` [${job.rank}/${job.rank_count}]` : "";
  return `${job.title}${rank} · ${job.host}:${job.pid}`;
}

export function when(seconds: number, language: string): string {
  const options = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } as const;
  return new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", options).format(1000 * seconds);
}
