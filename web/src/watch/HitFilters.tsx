/** Which hits are listed: of which watchpoint, rank and node, and whether they hit or could not be evaluated. */

import { ActionIcon, SegmentedControl, Select, TextInput } from "@mantine/core";
import type { JobView } from "../api/client";
import { type HitList, useConditions } from "../api/watch";
import { CloseIcon, SearchIcon } from "../app/icons";
import { useLanguage, useText } from "../i18n";
import { type HitFilter, useWatch, watchView } from "./state";
import { useWatchpoints } from "./useWatchpoints";
import { conditionText } from "./words";

const ANY = "any";

export function HitFilters({ job, facts }: { job: JobView; facts: HitList }) {
  const text = useText().watch;
  const words = useText();
  const language = useLanguage((state) => state.language);
  const filter = useWatch((state) => state.hitFilter);
  const conditions = useConditions();
  const { list } = useWatchpoints(job);
  const watchpoints = (list?.watchpoints ?? []).filter(({ id, hits }) => hits > 0 || id === filter.watchpoint);
  const total = facts.total === facts.all ? text.hitTotal(facts.total) : `${text.hitTotal(facts.total)} ${text.ofAll(facts.all)}`;
  return (
    <div className="ss-filters">
      <div className="ss-choices">
        <Select
          size="xs" aria-label={text.title} value={filter.watchpoint === null ? ANY : String(filter.watchpoint)} allowDeselect={false} comboboxProps={{ width: 320, position: "bottom-start" }}
          data={[
            { value: ANY, label: text.anyWatchpoint },
            ...watchpoints.map((each) => ({
              value: String(each.id),
              label: `${each.id} ${each.name || conditionText(conditions, each, language)}`,
            })),
          ]}
          onChange={(value) => watchView.filterHits({ watchpoint: value === ANY ? null : Number(value) })}
        />
        <TextInput
          size="xs" type="search" aria-label={text.hitSearch} placeholder={text.hitSearch} value={filter.text} spellCheck={false} autoComplete="off"
          leftSection={<SearchIcon size={13} />} onChange={(event) => watchView.filterHits({ text: event.currentTarget.value })}
          rightSection={
            filter.text && (
              <ActionIcon size="xs" aria-label={words.clear} onClick={() => watchView.filterHits({ text: "" })}><CloseIcon size={12} /></ActionIcon>
            )
          }
        />
      </div>
      {job.rank_count > 1 && (
        <Select
          size="xs" aria-label={words.rank} value={filter.rank === null ? ANY : String(filter.rank)} allowDeselect={false}
          data={[
            { value: ANY, label: text.anyRank },
            ...Array.from({ length: job.rank_count }, (_, rank) => ({ value: String(rank), label: text.rank(rank) })),
          ]}
          onChange={(value) => watchView.filterHits({ rank: value === ANY ? null : Number(value) })}
        />
      )}
      <SegmentedControl
        size="xs" fullWidth aria-label={text.hitKindLabel} value={filter.kind ?? "all"}
        data={(["all", "hit", "error"] as const).map((value) => ({ value, label: text.hitKind[value] }))}
        onChange={(value) => watchView.filterHits({ kind: value === "all" ? null : (value as HitFilter["kind"]) })}
      />
      <div className="ss-matches" role="status" data-testid="hit-total">{total} · {text.inStep(facts.step)}</div>
    </div>
  );
}
