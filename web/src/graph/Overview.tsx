/** The whole picture, small. */

import { MiniMap } from "@xyflow/react";
import { useText } from "../i18n";
import type { BoxNode } from "./boxes";
import { colours, mix } from "./palette";

export function Overview({ isDark }: { isDark: boolean }) {
  const text = useText().canvas;
  const palette = colours(isDark);
  const colour = (node: BoxNode) => {
    const { open, role, kind } = node.data.box.node;
    return mix(palette.ground, palette[role], open ? 0.12 : kind === "node" ? 0.45 : 0.75);
  };
  return (
    <MiniMap<BoxNode>
      ariaLabel={text.minimap}
      nodeColor={colour}
      nodeStrokeColor={palette.line}
      nodeBorderRadius={4}
      bgColor={palette.card}
      maskColor={isDark ? "rgba(0,0,0,0.45)" : "rgba(60,70,90,0.18)"}
      pannable
      zoomable
      style={{ width: 140, height: 90 }}
    />
  );
}
