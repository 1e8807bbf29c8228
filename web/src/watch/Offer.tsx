/** The offer of the recommended watchpoints, and of those of the last run: in its place in the list, in nobody's way. */

import { Button } from "@mantine/core";
import type { JobView } from "../api/client";
import type { WatchpointList } from "../api/watch";
import { when } from "../app/JobPicker";
import { useLanguage, useText } from "../i18n";
import type { WatchChanges } from "./useWatchpoints";

export function Offer({ list, changes }: { job: JobView; list: WatchpointList; changes: WatchChanges }) {
  const text = useText().watch;
  const language = useLanguage((state) => state.language);
  const { earlier } = list;
  return (
    <div className="ss-offer" role="region" aria-labelledby="offer-title" data-testid="offer">
      <strong id="offer-title">{text.offer}</strong>
      <p>{text.offerWhy}</p>
      <div className="ss-offer-buttons">
        <Button size="compact-xs" onClick={() => changes.recommended(true)}>{text.use}</Button>
        <Button size="compact-xs" variant="default" onClick={() => changes.recommended(false)}>{text.notNow}</Button>
      </div>
      {earlier && (
        <Button
          size="compact-xs" variant="default" title={text.earlierFrom(when(earlier.ended_at, language))}
          onClick={() => changes.earlier()}
        >
          {text.earlier(earlier.count, earlier.title)}
        </Button>
      )}
    </div>
  );
}
