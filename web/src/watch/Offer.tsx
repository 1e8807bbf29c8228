/** The offer of the recommended watchpoints, and of those of the last run: in its place in the list, in nobody's way. */

import { Button } from "@mantine/core";
import type { WatchpointList } from "../api/watch";
import { when } from "../app/JobPicker";
import { useLanguage, useText } from "../i18n";
import type { WatchChanges } from "./useWatchpoints";

interface Props {
  list: WatchpointList;
  changes: WatchChanges;
}

export function Offer({ list, changes }: Props) {
  const text = useText().watch;
  return (
    <div className="ss-offer" role="region" aria-labelledby="offer-title" data-testid="offer">
      <strong id="offer-title">{text.offer}</strong>
      <p>{text.offerWhy}</p>
      <div className="ss-offer-buttons">
        <Button size="compact-xs" onClick={() => changes.recommended(true)}>{text.use}</Button>
        <Button size="compact-xs" variant="default" onClick={() => changes.recommended(false)}>{text.notNow}</Button>
      </div>
      <Earlier list={list} changes={changes} />
    </div>
  );
}

/** Of what was offered, what can still be taken after the answer. */
export function Late({ list, changes }: Props) {
  const text = useText().watch;
  return (
    <div className="ss-watch-late">
      {list.recommended === "declined" && (
        <Button size="compact-xs" variant="default" onClick={() => changes.recommended(true)}>{text.useRecommended}</Button>
      )}
      <Earlier list={list} changes={changes} />
    </div>
  );
}

/** The watchpoints of the last run of the same script. */
function Earlier({ list: { earlier }, changes }: Props) {
  const text = useText().watch;
  const language = useLanguage((state) => state.language);
  if (!earlier) return null;
  return (
    <Button
      size="compact-xs" variant="default" title={text.earlierFrom(when(earlier.ended_at, language))} className="ss-earlier-button"
      onClick={() => changes.earlier()}
    >
      {text.earlier(earlier.count, earlier.title)}
    </Button>
  );
}
