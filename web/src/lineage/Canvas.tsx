/** The drawing: lines below, boxes above, moved by pointer, wheel and keys. */

import { type FocusEvent, type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { useText } from "../i18n";
import { Box } from "./Box";
import type { Placed } from "./layout";
import { type Arrow, keyOf, next, type Stop, stopsOf } from "./moves";
import { useLineage } from "./state";
import { useCamera } from "./useCamera";
import type { Picture } from "./useDrawing";

/** What the rest of the panel has the picture do. */
export interface Picturing {
  zoom(by: number): void;
  fit(): void;
  /** Into the middle. */
  centre(node: string): void;
}

/** An output of a node, or with slot -1 the node itself. */
export interface Chosen {
  node: string;
  slot: number;
}

interface Props {
  ref: Ref<Picturing>;
  picture: Picture;
  chosen: Chosen;
  /** The node where a traced fault began. */
  origin: string | null;
  /** What is shown: with another one the picture is looked at anew. */
  subject: string;
  onChoose(chosen: Chosen): void;
  onOpen(chosen: Chosen): void;
  onUnfold(id: string): void;
}

export function Canvas({ ref, picture, chosen, origin, subject, onChoose, onOpen, onUnfold }: Props) {
  const text = useText().lineage;
  const frame = useRef<HTMLDivElement>(null);
  const { lineage, drawing, layout, cards, folds } = picture;
  const stops = useMemo(() => stopsOf(layout.boxes), [layout]);
  const boxOf = (id: string): Placed | undefined => layout.boxes.find((box) => box.id === id);
  const camera = useCamera(frame, layout, boxOf(lineage.name), subject);
  const [wanted, setWanted] = useState("");
  const home = keyOf(lineage.name, lineage.slot);
  const tabStop = stops.some(({ key }) => key === wanted) ? wanted : home;
  useImperativeHandle(ref, () => ({
    zoom: camera.zoom,
    fit: camera.fit,
    centre: (node) => {
      const box = boxOf(node);
      if (box) camera.centre(box);
    },
  }));

  const goTo = (stop: Stop | null | undefined) => {
    if (!stop) return;
    setWanted(stop.key);
    const elements = frame.current?.querySelectorAll<HTMLElement>("[data-stop]") ?? [];
    [...elements].find((element) => element.dataset["stop"] === stop.key)?.focus({ preventScroll: true });
  };
  const first = useRef(() => goTo(stops.find(({ key }) => key === home)));
  useEffect(() => {
    if (useLineage.getState().isByKeys) first.current();
    useLineage.setState({ isByKeys: false });
  }, []);
  const stopAt = (target: EventTarget): Stop | undefined => stops.find(({ key }) => key === (target as HTMLElement).dataset["stop"]);
  const focused = ({ target }: FocusEvent) => {
    const stop = stopAt(target);
    if (stop && target.matches(":focus-visible")) camera.show(stop);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = stopAt(event.target);
    const moves: Record<string, (() => void) | undefined> = {
      "+": () => camera.zoom(1.25),
      "-": () => camera.zoom(0.8),
      "0": camera.fit,
      Home: () => goTo(stops.find(({ key }) => key === home)),
      Enter: at && (() => enter(at, event.shiftKey)),
      " ": at && (() => enter(at, false)),
    };
    for (const arrow of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] satisfies Arrow[])
      moves[arrow] = () => goTo(next(stops, at?.key ?? tabStop, arrow));
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  const enter = (stop: Stop, isOpened: boolean) => {
    if (folds.has(stop.id)) onUnfold(stop.id);
    else if (isOpened && stop.slot >= 0) {
      useLineage.setState({ isByKeys: true });
      onOpen({ node: stop.id, slot: stop.slot });
    } else onChoose({ node: stop.id, slot: stop.slot });
  };

  return (
    <div
      ref={frame} className="ss-lin-canvas" role="group" aria-label={`${text.title}. ${text.keys}`} data-testid="lineage-canvas"
      onKeyDown={press} onFocus={focused} {...camera.handlers}
    >
      <div
        className="ss-lin-sheet"
        style={{ width: layout.width, height: layout.height, transform: `translate(${camera.view.x}px, ${camera.view.y}px) scale(${camera.view.zoom})` }}
      >
        <Lines picture={picture} chosen={chosen} />
        {layout.boxes.map((placed) => {
          const card = cards.get(placed.id);
          const fold = folds.get(placed.id);
          if (fold) {
            const key = keyOf(fold.id, -1);
            return (
              <button
                key={fold.id} type="button" className="ss-lin-fold" data-testid="lineage-fold" data-stop={key} tabIndex={key === tabStop ? 0 : -1}
                style={{ left: placed.x, top: placed.y, width: placed.width, height: placed.height }}
                title={text.unfold(fold.count)} onClick={() => onUnfold(fold.id)}
              >
                {text.more(fold.count)}
              </button>
            );
          }
          return (
            <Box
              key={placed.id} card={card!} placed={placed} tabStop={tabStop} isOrigin={placed.id === origin}
              centre={placed.id === lineage.name ? lineage.slot : null} chosen={placed.id === chosen.node ? chosen.slot : null}
              onChoose={(slot) => onChoose({ node: placed.id, slot })} onOpen={(slot) => onOpen({ node: placed.id, slot })}
            />
          );
        })}
      </div>
      {drawing.nodes.length === 1 && <p className="ss-lin-alone">{text.none}</p>}
    </div>
  );
}

/** Those of the chosen tensor stand out, and those of the path more; what stands out lies on top. */
function Lines({ picture: { drawing, layout }, chosen }: { picture: Picture; chosen: Chosen }) {
  const drawn = drawing.lines.map(({ source, slot, target, piece }, at) => {
    const isChosen = (source === chosen.node && slot === chosen.slot) || target === chosen.node;
    return { at, rank: piece >= 0 ? 2 : isChosen ? 1 : 0, piece, key: `${slot} ${source}\n${target}` };
  });
  drawn.sort((a, b) => a.rank - b.rank);
  return (
    <svg className="ss-lin-lines" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        {["line", "chosen", "path"].map((kind) => (
          <marker key={kind} id={`ss-lin-${kind}`} className={`ss-lin-head-${kind}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0 0.5L8 4L0 7.5z" />
          </marker>
        ))}
      </defs>
      {drawn.map(({ at, rank, piece, key }) => {
        const kind = ["line", "chosen", "path"][rank]!;
        return <path key={key} className={`ss-lin-${kind}`} d={layout.ways[at]} markerEnd={`url(#ss-lin-${kind})`} data-piece={piece >= 0 ? piece : undefined} />;
      })}
    </svg>
  );
}
