/** A node as React Flow draws it: a card, or the frame of what is open. */

import type { Node, NodeProps } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { useText } from "../i18n";
import { Icon } from "./icons";
import { useDistance, useMarks } from "./marks";
import type { Box } from "./scene";
import { BADGE_SPACE, badgeText, NAME_SIZE, shorten, shownBadges, SMALL_SIZE, subtitle, textWidth, title } from "./sizes";

export type BoxNode = Node<{ box: Box }, "card" | "frame">;

export interface BoxActions {
  toggle(box: Box): void;
  page(box: Box, offset: number): void;
  menu(box: Box, at: { x: number; y: number }): void;
}

export const Actions = createContext<BoxActions | null>(null);

function MenuButton({ box }: { box: Box }) {
  const text = useText().canvas;
  const actions = useContext(Actions);
  return (
    <button
      type="button"
      className="ssg-button ssg-menu nopan"
      tabIndex={-1}
      title={text.actions}
      aria-label={text.actionsOf(box.node.name)}
      onDoubleClick={(event) => event.stopPropagation()}
      onClick={(event) => {
        event.stopPropagation();
        const { left, bottom } = event.currentTarget.getBoundingClientRect();
        actions?.menu(box, { x: left, y: bottom });
      }}
    >
      <Icon name="dots" size={14} />
    </button>
  );
}

function ToggleButton({ box }: { box: Box }) {
  const text = useText().canvas;
  const actions = useContext(Actions);
  const { open, name } = box.node;
  return (
    <button
      type="button"
      className="ssg-button ssg-toggle nopan"
      tabIndex={-1}
      title={open ? text.close : text.open}
      aria-label={open ? text.closeOf(name) : text.openOf(name)}
      aria-expanded={open}
      onDoubleClick={(event) => event.stopPropagation()}
      onClick={(event) => {
        event.stopPropagation();
        actions?.toggle(box);
      }}
    >
      <Icon name={open ? "minus" : "plus"} size={12} />
    </button>
  );
}

function Badges({ box }: { box: Box }) {
  const text = useText().canvas;
  const marked = useMarks((state) => (box.node.badges.some(({ name }) => name === state.badge) ? state.badge : ""));
  const hits = useMarks((state) => state.hits);
  const { shown, hidden } = shownBadges(box.node);
  if (shown.length === 0) return null;
  return (
    <ul className="ssg-badges">
      {shown.map((badge, index) => (
        <li
          key={index}
          className={`ssg-badge ssg-${badge.kind}${marked && marked === badge.name ? " is-selected" : ""}${hits.has(badge.name) ? " is-hit" : ""}`}
          title={badge.text ? `${badge.name} = ${badge.text}` : badge.name}
        >
          {shorten(badgeText(badge), SMALL_SIZE, box.width - BADGE_SPACE)}
        </li>
      ))}
      {hidden > 0 && <li className="ssg-hidden">{text.more(hidden)}</li>}
    </ul>
  );
}

/** Nothing of a box has changed but its place. */
function isSame({ box: a }: { box: Box }, { box: b }: { box: Box }): boolean {
  const keys = ["id", "op", "role", "nodes", "parameters", "offset", "shown", "total"] as const;
  return (
    a.width === b.width &&
    a.height === b.height &&
    keys.every((key) => a.node[key] === b.node[key]) &&
    a.node.badges.length === b.node.badges.length &&
    a.node.badges.every((badge, index) => badge.name === b.node.badges[index]!.name)
  );
}

export function Card({ data }: NodeProps<BoxNode>) {
  return <CardBody box={data.box} />;
}

export function Frame({ data }: NodeProps<BoxNode>) {
  return <FrameBody box={data.box} />;
}

const CardBody = memo(function CardBody({ box }: { box: Box }) {
  const text = useText().canvas;
  const { node } = box;
  const marks = useMarks((state) => state.classes.get(node.id) ?? "");
  const below = subtitle(node, text.inside);
  const isOp = node.kind === "node";
  const isFar = useDistance((state) => state.isFar);
  const kinds = node.categories.map((category) => `of-${category}`).join(" ");
  const classes = `ssg-box ssg-card ssg-${node.kind} role-${node.role} ${kinds} ${marks}`;
  if (isFar) return <div className={classes} title={node.id} />;
  return (
    <div className={classes}>
      {!isOp && <ToggleButton box={box} />}
      <div className="ssg-text" title={node.id}>
        <div className="ssg-name">{shorten(title(node), NAME_SIZE, box.width - (isOp ? 34 : 56))}</div>
        {below && <div className="ssg-below">{below}</div>}
        <Badges box={box} />
      </div>
      <MenuButton box={box} />
    </div>
  );
}, isSame);

const FrameBody = memo(function FrameBody({ box }: { box: Box }) {
  const text = useText().canvas;
  const actions = useContext(Actions);
  const { node } = box;
  const marks = useMarks((state) => state.classes.get(node.id) ?? "");
  const room = box.width - 66;
  const name = shorten(title(node), NAME_SIZE, room);
  const inside = text.inside(node.nodes, 0);
  const withCount = textWidth(name, NAME_SIZE) + textWidth(inside, SMALL_SIZE) + 16 < room;
  return (
    <div className={`ssg-box ssg-frame ssg-${node.kind} role-${node.role} ${marks}`}>
      <div className="ssg-header" title={node.id}>
        <ToggleButton box={box} />
        <span className="ssg-name">{name}</span>
        {withCount && <span className="ssg-below">{inside}</span>}
        <MenuButton box={box} />
      </div>
      {node.total > node.shown && (
        <Pages node={node} onPage={(offset) => actions?.page(box, offset)} />
      )}
    </div>
  );
}, isSame);

export interface Paged {
  total: number;
  offset: number;
  shown: number;
}

/** Which children are shown, and the way to the others. */
export function Pages({ node, onPage }: { node: Paged; onPage(offset: number): void }) {
  const text = useText().canvas;
  const { offset, shown, total } = node;
  const rest = total - offset - shown;
  return (
    <div className="ssg-pages nopan" onDoubleClick={(event) => event.stopPropagation()}>
      <button type="button" disabled={offset === 0} onClick={() => onPage(Math.max(0, offset - Math.max(shown, 1)))}>
        ‹ {text.previousPage}
      </button>
      <span>{text.page(offset + 1, offset + shown, total)}</span>
      <button type="button" disabled={rest <= 0} onClick={() => onPage(offset + shown)}>
        {text.nextPage(Math.max(rest, 0))} ›
      </button>
    </div>
  );
}
