/** The buttons over the drawing: back and forward, how many hops each way, the trace, the zoom. */

import { ActionIcon, Button } from "@mantine/core";
import type { ReactNode } from "react";
import { LeftIcon, RightIcon, TargetIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { Icon } from "../graph/icons";
import { useText } from "../i18n";
import { number } from "../i18n/numbers";
import { MOST_HOPS, type Side } from "./select";
import type { Moves } from "./useTrail";

interface Props {
  moves: Moves;
  hops: Record<Side, number>;
  /** Nodes that one hop more would show. */
  more: Record<Side, number>;
  isTruncated: boolean;
  isTracing: boolean;
  canTrace: boolean;
  onHops(side: Side, hops: number): void;
  onTrace(): void;
  onZoom(by: number): void;
  onFit(): void;
}

export function Bar({ moves, hops, more, isTruncated, isTracing, canTrace, onHops, onTrace, onZoom, onFit }: Props) {
  const text = useText().lineage;
  return (
    <div className="ss-lin-bar" role="toolbar" aria-label={text.title}>
      <Tooltip label={text.help}><h2 className="ss-lin-title">{text.title}</h2></Tooltip>
      <Tool label={text.back} isOff={!moves.canBack} onClick={() => history.back()}><LeftIcon size={13} /></Tool>
      <Tool label={text.forward} isOff={!moves.canForward} onClick={() => history.forward()}><RightIcon size={13} /></Tool>
      <Hops side="up" label={text.producers} hops={hops.up} more={more.up} isTruncated={isTruncated} onHops={onHops} />
      <Hops side="down" label={text.consumers} hops={hops.down} more={more.down} isTruncated={isTruncated} onHops={onHops} />
      <Button
        size="compact-xs" variant="light" className={isTracing ? "ss-lin-on" : undefined} aria-pressed={isTracing} leftSection={<TargetIcon size={12} />}
        disabled={!canTrace && !isTracing} onClick={onTrace}
      >
        {text.trace}
      </Button>
      <span className="ss-grow" />
      <Tool label={text.zoomOut} onClick={() => onZoom(0.8)}><Icon name="minus" size={13} /></Tool>
      <Tool label={text.zoomIn} onClick={() => onZoom(1.25)}><Icon name="plus" size={13} /></Tool>
      <Tool label={text.fit} onClick={onFit}><Icon name="fit" size={13} /></Tool>
    </div>
  );
}

interface HopsProps {
  side: Side;
  label: string;
  hops: number;
  more: number;
  isTruncated: boolean;
  onHops(side: Side, hops: number): void;
}

function Hops({ side, label, hops, more, isTruncated, onHops }: HopsProps) {
  const text = useText().lineage;
  const isUp = side === "up";
  const count = number(more) + (isTruncated && more > 0 ? "+" : "");
  const isMost = hops >= MOST_HOPS;
  const none = isTruncated ? text.truncated : isUp ? text.noMoreUp : text.noMoreDown;
  const label1 = isMost ? text.mostHops(MOST_HOPS) : more === 0 ? none : isUp ? text.moreUp(count) : text.moreDown(count);
  return (
    <div className="ss-lin-hops" role="group" aria-label={label} data-testid={`hops-${side}`}>
      <span>{label}</span>
      <Tool label={isUp ? text.fewerUp : text.fewerDown} isOff={hops <= 1} onClick={() => onHops(side, hops - 1)}>
        <Icon name="minus" size={12} />
      </Tool>
      <span className="ss-lin-count">{text.hops(hops)}</span>
      <Tooltip label={label1}>
        <Button
          size="compact-xs" variant="subtle" color="gray" disabled={isMost || more === 0} aria-label={label1}
          onClick={() => onHops(side, hops + 1)}
        >
          +{more > 0 && count}
        </Button>
      </Tooltip>
    </div>
  );
}

function Tool({ label, isOff = false, onClick, children }: { label: string; isOff?: boolean; onClick(): void; children: ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" disabled={isOff} aria-label={label} onClick={onClick}>{children}</ActionIcon>
    </Tooltip>
  );
}
