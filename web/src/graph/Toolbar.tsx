/** The buttons over the canvas. */

import { ActionIcon } from "@mantine/core";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { Icon, type IconName } from "./icons";
import type { Direction } from "./scene";

export interface ToolbarProps {
  direction: Direction;
  hasMinimap: boolean;
  isEmpty: boolean;
  onZoom(by: number): void;
  onFit(): void;
  onCollapse(): void;
  onTurn(): void;
  onMinimap(): void;
  onSave(format: "svg" | "png"): void;
}

export function Toolbar(props: ToolbarProps) {
  const text = useText().canvas;
  const { isEmpty } = props;
  return (
    <div className="ssg-toolbar" role="toolbar" aria-label={text.title}>
      <Tool icon="plus" label={text.zoomIn} onClick={() => props.onZoom(1.25)} />
      <Tool icon="minus" label={text.zoomOut} onClick={() => props.onZoom(0.8)} />
      <Tool icon="fit" label={text.fit} disabled={isEmpty} onClick={props.onFit} />
      <Tool icon="collapse" label={text.collapseAll} disabled={isEmpty} onClick={props.onCollapse} />
      <Tool
        icon={props.direction === "TB" ? "right" : "down"}
        label={props.direction === "TB" ? text.toRight : text.toBottom}
        onClick={props.onTurn}
      />
      <Tool
        icon="map"
        label={props.hasMinimap ? text.hideMinimap : text.showMinimap}
        pressed={props.hasMinimap}
        onClick={props.onMinimap}
      />
      <Tool icon="save" label={text.exportSvg} caption="SVG" disabled={isEmpty} onClick={() => props.onSave("svg")} />
      <Tool icon="save" label={text.exportPng} caption="PNG" disabled={isEmpty} onClick={() => props.onSave("png")} />
    </div>
  );
}

interface ToolProps {
  icon: IconName;
  label: string;
  caption?: string;
  disabled?: boolean;
  pressed?: boolean;
  onClick(): void;
}

function Tool({ icon, label, caption, disabled, pressed, onClick }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={pressed ? "light" : "subtle"}
        color="gray"
        w={caption ? 48 : undefined}
        disabled={disabled}
        aria-label={label}
        aria-pressed={pressed}
        onClick={onClick}
      >
        <Icon name={icon} />
        {caption && <span style={{ fontSize: 10, marginLeft: 2 }}>{caption}</span>}
      </ActionIcon>
    </Tooltip>
  );
}
