/** One watchpoint in the list: on or off, what it looks for, how much it covers, what it has hit. */

import { ActionIcon, Menu, Switch } from "@mantine/core";
import { memo } from "react";
import type { Condition, Watchpoint } from "../api/watch";
import { CopyIcon, DotsIcon, EditIcon, TicksIcon, TrashIcon, WarnIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useLanguage, useText } from "../i18n";
import { number } from "../i18n/numbers";
import { watchView } from "./state";
import type { WatchChanges } from "./useWatchpoints";
import { conditionText, warningText } from "./words";

interface Props {
  watchpoint: Watchpoint;
  conditions: readonly Condition[];
  changes: WatchChanges;
  canChange: boolean;
  isTicking: boolean;
}

export const WatchRow = memo(function WatchRow({ watchpoint, conditions, changes, canChange, isTicking }: Props) {
  const text = useText().watch;
  const language = useLanguage((state) => state.language);
  const { id, enabled, warnings } = watchpoint;
  const what = conditionText(conditions, watchpoint, language);
  const facts = [
    watchpoint.name,
    what,
    text.watched(watchpoint.watched),
    watchpoint.hits > 0 ? text.hits(watchpoint.hits) : "",
    watchpoint.recommended ? text.recommended : "",
    enabled ? "" : text.disabled,
    canChange ? text.selectHint : "",
  ].filter(Boolean);
  const warned = warnings.map((warning) => warningText(warning, text)).join("\n");
  const classes = ["ss-watch-row", isTicking && "ss-row-selected", !enabled && "ss-watch-off"].filter(Boolean).join(" ");
  return (
    <li className={classes} data-watch={id} data-testid={`watch-${id}`}>
      <Switch
        size="xs" checked={enabled} disabled={!canChange} aria-label={text.enabledOf(id)} data-part="switch"
        onChange={(event) => changes.enable(id, event.currentTarget.checked)}
      />
      <Tooltip label={facts.join("\n")}>
        <button
          type="button" className="ss-watch-main" data-part="main" aria-pressed={isTicking}
          aria-label={[text.of(id), ...facts.slice(0, -1)].join(", ")}
          onClick={() => watchView.tick(isTicking ? null : id)}
          onDoubleClick={() => canChange && watchView.open({ kind: "edit", id })}
          onKeyDown={(event) => {
            if (!canChange) return;
            if (event.key === "Delete") watchView.open({ kind: "delete", id });
            else if (event.key === "F2") watchView.open({ kind: "edit", id });
            else return;
            event.preventDefault();
          }}
        >
          <span className="ss-watch-id">{id}</span>
          <span className="ss-ellipsis">
            {watchpoint.name && <strong>{watchpoint.name} </strong>}
            {what}
          </span>
        </button>
      </Tooltip>
      {warnings.length > 0 && (
        <Tooltip label={warned}>
          <span className="ss-watch-warning" role="img" aria-label={warned} tabIndex={0}><WarnIcon size={14} /></span>
        </Tooltip>
      )}
      {watchpoint.hits > 0 && (
        <Tooltip label={text.showHits}>
          <button
            type="button" className="ss-watch-hits" aria-label={`${text.hits(watchpoint.hits)}: ${text.showHits}`}
            onClick={() => watchView.showHitsOf(id)}
          >
            {number(watchpoint.hits)}
          </button>
        </Tooltip>
      )}
      <Tooltip label={text.watched(watchpoint.watched)}>
        <span className="ss-row-count" data-testid="watched">{number(watchpoint.watched)}</span>
      </Tooltip>
      <RowMenu watchpoint={watchpoint} changes={changes} canChange={canChange} />
    </li>
  );
});

function RowMenu({ watchpoint, changes, canChange }: Pick<Props, "watchpoint" | "changes" | "canChange">) {
  const text = useText().watch;
  const { id, enabled } = watchpoint;
  return (
    <Menu position="bottom-end" shadow="md" withinPortal transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon size="sm" aria-label={text.actionsOf(id)} disabled={!canChange} data-part="menu"><DotsIcon size={14} /></ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<EditIcon size={14} />} onClick={() => watchView.open({ kind: "edit", id })}>{text.edit}</Menu.Item>
        <Menu.Item leftSection={<TicksIcon size={14} />} onClick={() => watchView.tick(id)}>{text.chooseNodes}</Menu.Item>
        <Menu.Item leftSection={<CopyIcon size={14} />} onClick={() => changes.duplicate(id)}>{text.duplicate}</Menu.Item>
        <Menu.Item leftSection={<span className="ss-menu-gap" />} onClick={() => changes.enable(id, !enabled)}>
          {enabled ? text.disable : text.enable}
        </Menu.Item>
        <Menu.Item leftSection={<TrashIcon size={14} />} onClick={() => watchView.open({ kind: "delete", id })}>{text.remove}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
