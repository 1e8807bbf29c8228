/** All lines of a scene in one SVG between the frames and the cards; those that stand out in another above them. */

import { ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import { useText } from "../i18n";
import { labelsOf } from "./labels";
import { useDistance, useMarks } from "./marks";
import { thickness } from "./palette";
import type { Scene } from "./scene";

export const Lines = memo(function Lines({ scene }: { scene: Scene }) {
  const text = useText().canvas;
  const isFar = useDistance((state) => state.isFar);
  // There may be thousands of these: one path for all.
  const faint = scene.lines.map((line) => (line.isFaint ? line.path : "")).join("");
  return (
    <ViewportPortal>
      <svg className="ssg-lines" width="1" height="1" aria-hidden="true">
        <defs>
          {["line", "into", "out", "hover"].map((kind) => (
            <marker
              key={kind}
              id={`ssg-arrow-${kind}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path className={`ssg-head-${kind}`} d="M0 0.5 8 4 0 7.5z" />
            </marker>
          ))}
        </defs>
        <path className="ssg-line is-faint" d={faint} strokeWidth="1.2" />
        {scene.lines.map(
          (line, index) =>
            !line.isFaint && (
              <path
                key={index}
                className={line.control ? "ssg-line is-control" : "ssg-line"}
                d={line.path}
                strokeWidth={thickness(line)}
                markerEnd="url(#ssg-arrow-line)"
              >
                <title>{line.text || text.order}</title>
              </path>
            ),
        )}
        {scene.lines.map(
          ({ label }, index) =>
            label &&
            !isFar && (
              <text key={index} className="ssg-label" x={label.x + label.width / 2} y={label.y + label.height - 4}>
                {label.text}
              </text>
            ),
        )}
      </svg>
      <Highlights scene={scene} />
    </ViewportPortal>
  );
});

const KINDS = ["into", "out", "hover"] as const;
const MOST_ARROWS = 600; // of lines that stand out; more are drawn in full, too, but without heads
const MOST_LABELS = 60;

function Highlights({ scene }: { scene: Scene }) {
  const lines = useMarks((state) => state.lines);
  const labels = lines.length <= MOST_LABELS ? labelsOf(lines.map(({ line }) => line), scene.lines) : [];
  const rest = lines.slice(MOST_ARROWS);
  return (
    <svg className="ssg-lines ssg-highlights" width="1" height="1" aria-hidden="true">
      {lines.slice(0, MOST_ARROWS).map(({ line, kind }, index) => (
        <path
          key={index}
          className={`ssg-line is-${kind}${line.control ? " is-control" : ""}`}
          d={line.path}
          strokeWidth={thickness(line) + 0.8}
          markerEnd={`url(#ssg-arrow-${kind})`}
        />
      ))}
      {rest.length > 0 &&
        KINDS.map((kind) => {
          const path = rest.map((each) => (each.kind === kind ? each.line.path : "")).join("");
          return <path key={kind} className={`ssg-line is-${kind}`} d={path} strokeWidth="1.6" />;
        })}
      {labels.map(
        (label, index) =>
          label && (
            <text
              key={`t${index}`}
              className={`ssg-label is-${lines[index]!.kind}`}
              x={label.x + label.width / 2}
              y={label.y + label.height - 4}
            >
              {label.text}
            </text>
          ),
      )}
    </svg>
  );
}
