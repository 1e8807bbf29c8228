/** Where the script made a node: the user's frames, innermost first; those of libraries folded. */

import { ActionIcon } from "@mantine/core";
import { useState } from "react";
import type { NodeView } from "../api/client";
import { CopyButton } from "../app/Copy";
import { RightIcon, SearchIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { NO_FILTER, view } from "../state/view";

type Frame = NodeView["source"][number];

/** Frames in order, those of libraries that follow each other as one group. */
export function grouped(frames: readonly Frame[]): { isUser: boolean; frames: Frame[] }[] {
  const groups: { isUser: boolean; frames: Frame[] }[] = [];
  for (const frame of frames) {
    const last = groups.at(-1);
    if (last && last.isUser === frame.user) last.frames.push(frame);
    else groups.push({ isUser: frame.user, frames: [frame] });
  }
  return groups;
}

export function SourceLines({ node }: { node: NodeView }) {
  const text = useText();
  if (node.source.length === 0) return <p className="ss-note">{text.noSource}</p>;
  // The user's innermost line comes first, whatever libraries lie below it.
  const user = node.source.filter((frame) => frame.user);
  const rest = grouped(node.source).filter((group) => !group.isUser);
  const libraries = rest.flatMap((group) => group.frames);
  return (
    <div className="ss-source">
      {user.map((frame) => <OneFrame key={`${frame.file}:${frame.line}:${frame.text}`} frame={frame} />)}
      {libraries.length > 0 && <FoldedFrames key={node.name} frames={libraries} isOpen={user.length === 0} />}
    </div>
  );
}

export function FoldedFrames({ frames, isOpen }: { frames: Frame[]; isOpen: boolean }) {
  const text = useText();
  const [open, setOpen] = useState(isOpen);
  return (
    <>
      <button type="button" className="ss-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className={`ss-caret${open ? " ss-caret-open" : ""}`}><RightIcon size={11} /></span>
        {text.frameworkFrames(frames.length)}
      </button>
      {open && frames.map((frame, at) => <OneFrame key={`${at} ${frame.file}:${frame.line}`} frame={frame} />)}
    </>
  );
}

export function OneFrame({ frame }: { frame: Frame }) {
  const text = useText();
  const place = `${frame.file}:${frame.line}`;
  return (
    <div className={frame.user ? "ss-frame ss-frame-user" : "ss-frame"} data-testid={frame.user ? "user-frame" : undefined}>
      <div className="ss-frame-place">
        <span className="ss-mono ss-ellipsis ss-ellipsis-start" title={place}><bdi>{place}</bdi></span>
        {frame.function && <span className="ss-dimmed ss-mono">{frame.function}</span>}
        <CopyButton value={place} label={text.copyPlace} />
        {frame.user && (
          <Tooltip label={text.nodesOfLine}>
            <ActionIcon size="sm" aria-label={text.nodesOfLine} onClick={() => view.filter({ ...NO_FILTER, line: place })}>
              <SearchIcon size={13} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      {frame.text && <pre className="ss-frame-text">{frame.text}</pre>}
    </div>
  );
}
