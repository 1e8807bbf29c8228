/** Over the node list while nodes are ticked: for which watchpoint, all of what is listed at once, and the way out. */

import { Button } from "@mantine/core";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { watchView } from "./state";
import type { RowTicks } from "./useTicks";

export function TickBar({ ticks, isFound }: { ticks: RowTicks; isFound: boolean }) {
  const text = useText().watch;
  return (
    <div className="ss-tickbar" role="group" aria-label={text.ticking(ticks.watchpoint)} data-testid="tickbar">
      <span className="ss-ellipsis ss-grow">{text.ticking(ticks.watchpoint)}</span>
      <Tooltip label={isFound ? text.tickAllListed : text.tickAll}>
        <Button size="compact-xs" variant="default" onClick={() => ticks.tickAll(true)}>{text.all}</Button>
      </Tooltip>
      <Tooltip label={isFound ? text.untickAllListed : text.untickAll}>
        <Button size="compact-xs" variant="default" onClick={() => ticks.tickAll(false)}>{text.noneOf}</Button>
      </Tooltip>
      <Button size="compact-xs" onClick={() => watchView.tick(null)}>{text.doneChoosing}</Button>
    </div>
  );
}
