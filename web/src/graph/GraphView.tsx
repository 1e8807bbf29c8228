/** The canvas: the graph as far as it is opened, drawn, moved about, and asked what to do with a node. */

import "@xyflow/react/dist/base.css";
import "./boxes.css";
import "./graph.css";
import "./lines.css";
import { Button, Loader, useComputedColorScheme } from "@mantine/core";
import { ReactFlow, ReactFlowProvider, useStore } from "@xyflow/react";
import { memo, type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { Actions, type BoxNode, Card, Frame, Pages } from "./boxes";
import type { GraphViewProps } from "./contract";
import { boxOf, placesOf, turn } from "./find";
import { Lines } from "./Lines";
import { boxesOf, mark, setZoom } from "./marks";
import { type MenuAt, NodeMenu } from "./NodeMenu";
import { Overview } from "./Overview";
import { type Box, type Direction, EMPTY } from "./scene";
import { subtitle } from "./sizes";
import { download, toPng, toSvg } from "./svg";
import { Toolbar } from "./Toolbar";
import { MAX_ZOOM, MIN_ZOOM, useCamera } from "./useCamera";
import { useKeys } from "./useKeys";
import { useOpening } from "./useOpening";
import { useReveal } from "./useReveal";
import { useScene } from "./useScene";

const NODE_TYPES = { card: Card, frame: Frame };
const DIRECTION = "stepscope-direction";
const CULLED = 120; // boxes from which on those out of sight are left out

export default memo(function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
});

function Canvas(props: GraphViewProps) {
  const { job, graph, selected, commands, current, hits, onSelect } = props;
  const texts = useText();
  const text = texts.canvas;
  const isDark = useComputedColorScheme() === "dark";
  const frame = useRef<HTMLDivElement>(null);
  const [direction, setDirection] = useState<Direction>(keptDirection);
  const [hasMinimap, setHasMinimap] = useState(true);
  const [menu, setMenu] = useState<MenuAt | null>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const [stack, setStack] = useState<string | null>(null); // a selected stack, which the page knows nothing of
  const [note, setNote] = useState("");
  const [answered, setAnswered] = useState(-1); // the last wish of which it is known what must be open

  const opening = useOpening(props);
  const { drawn, isFresh, error, isBusy, retry } = useScene({
    job: job.id,
    graph,
    revision: props.graphRevision,
    open: props.openScopes,
    // While it is not known what else must be open for that.
    isHeld: props.reveal !== null && props.reveal.serial !== answered,
    offsets: opening.offsets,
    direction,
  });
  const scene = drawn?.scene ?? EMPTY;
  const places = useMemo(() => placesOf(scene), [scene]);
  const camera = useCamera(frame, drawn);
  const cursor = selected?.name ?? stack;

  const nodes = useMemo(() => scene.boxes.map(toNode), [scene]);

  const hitBoxes = useMemo(() => boxesOf(scene, places, hits), [scene, places, hits]);
  useEffect(() => {
    mark(scene, places, { cursor, hovered, current, hits, hitBoxes, badge: selected?.name ?? "" });
  }, [scene, places, cursor, hovered, current, hits, hitBoxes, selected]);

  useReveal({
    job: job.id,
    graph,
    reveal: props.reveal,
    drawn,
    isFresh,
    onOpenScopes: (paths) => props.onOpenScopes([...props.openScopes, ...paths]),
    onOpenAlone: props.onOpenScopes,
    onOffsets: opening.setOffsets,
    onAnswered: setAnswered,
    onFound(id) {
      setNote("");
      const place = places.get(id);
      if (place !== undefined) camera.centre(scene.boxes[place]!);
    },
    onMissing: (name, failure) => setNote(failure ? failure.message : text.notDrawn(name)),
  });

  const select = useCallback(
    ({ node }: Box) => {
      setNote("");
      setStack(node.kind === "stack" ? node.id : null);
      onSelect(node.kind === "stack" ? null : { kind: node.kind, name: node.id });
    },
    [onSelect],
  );

  const actions = useMemo(
    () => ({
      toggle: opening.toggle,
      page: (box: Box, offset: number) => opening.setOffsets([[box.node.id, offset]]),
      menu: (box: Box, at: { x: number; y: number }) => setMenu({ box, ...at }),
    }),
    [opening.toggle, opening.setOffsets],
  );

  const onKeyDown = useKeys({
    scene,
    places,
    cursor: cursor === null ? -1 : boxOf(scene, places, cursor),
    onMove(place) {
      const box = scene.boxes[place]!;
      select(box);
      camera.show(box.node.open ? { ...box, height: 32 } : box);
    },
    onToggle: (place) => opening.toggle(scene.boxes[place]!),
    onMenu(place) {
      const at = document.querySelector(`[data-id="${CSS.escape(scene.boxes[place]!.node.id)}"]`)?.getBoundingClientRect();
      // After this key press, which would close the menu again.
      if (at) setTimeout(() => setMenu({ box: scene.boxes[place]!, x: at.left + 12, y: at.top + 24 }));
    },
    onZoom: camera.zoom,
    onLeave() {
      setStack(null);
      onSelect(null);
    },
  });

  const save = async (format: "svg" | "png") => {
    const subtitles = scene.boxes.map(({ node }) => subtitle(node, text.inside));
    const svg = toSvg(scene, { isDark, selected: cursor, current, subtitles, more: text.more });
    const name = `${job.title || "graph"}-${graph}`.replace(/[^\w.-]+/g, "_");
    try {
      if (format === "svg") download(new Blob([svg], { type: "image/svg+xml" }), `${name}.svg`);
      else {
        const { blob, isScaledDown } = await toPng(svg, scene);
        download(blob, `${name}.png`);
        if (isScaledDown) setNote(text.pngTooLarge);
      }
    } catch (failure) {
      setNote(String(failure));
    }
  };

  const rootPage = drawn && drawn.view.total > drawn.view.shown ? drawn.view : null;
  const spoken = cursor === null ? "" : cursor.slice(cursor.lastIndexOf("/") + 1);
  return (
    <div
      ref={frame}
      className="ssg-canvas"
      role="application"
      aria-label={text.label}
      aria-busy={isBusy}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onMouseDownCapture={(event) => {
        if (!(event.target as Element).closest("button")) frame.current?.focus({ preventScroll: true });
      }}
    >
      <Actions.Provider value={actions}>
        <ReactFlow<BoxNode>
          nodes={nodes}
          nodeTypes={NODE_TYPES}
          minZoom={MIN_ZOOM}
          maxZoom={MAX_ZOOM}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          zoomOnDoubleClick={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          onlyRenderVisibleElements={nodes.length > CULLED}
          proOptions={{ hideAttribution: true }}
          onNodeClick={(_, node) => select(node.data.box)}
          onNodeDoubleClick={(_, node) => node.data.box.node.kind !== "node" && opening.toggle(node.data.box)}
          onNodeContextMenu={(event: MouseEvent, node) => {
            event.preventDefault();
            setMenu({ box: node.data.box, x: event.clientX, y: event.clientY });
          }}
          onNodeMouseEnter={(_, node) => setHovered(node.id)}
          onNodeMouseLeave={() => setHovered(null)}
          onPaneClick={() => {
            setStack(null);
            onSelect(null);
          }}
          onMoveStart={() => setMenu(null)}
        >
          <Distance />
          <Lines scene={scene} />
          {hasMinimap && nodes.length > 0 && <Overview isDark={isDark} />}
        </ReactFlow>
      </Actions.Provider>
      <Toolbar
        direction={direction}
        hasMinimap={hasMinimap}
        isEmpty={scene.boxes.length === 0}
        onZoom={camera.zoom}
        onFit={() => camera.fit(scene)}
        onCollapse={opening.collapseAll}
        onTurn={() => {
          const turned = turn(direction);
          setDirection(turned);
          keepDirection(turned);
        }}
        onMinimap={() => setHasMinimap(!hasMinimap)}
        onSave={(format) => void save(format)}
      />
      <div className="ssg-note" role="status">
        {isBusy && <Loader size={14} role="progressbar" aria-label={text.loading} />}
        {drawn?.view.full && <div className="is-warning">{text.full(scene.boxes.length)}</div>}
        {rootPage && <Pages node={rootPage} onPage={(offset) => opening.setOffsets([["", offset]])} />}
        {note && <div>{note}</div>}
        {drawn && scene.boxes.length === 0 && <div>{text.empty}</div>}
        {error && (
          <div className="is-warning">
            {text.failed}: {errorText(error, texts)}{" "}
            <Button size="compact-xs" variant="light" onClick={retry}>
              {text.retry}
            </Button>
          </div>
        )}
      </div>
      <div className="ssg-spoken" aria-live="polite">
        {spoken}
      </div>
      <NodeMenu
        at={menu}
        commands={commands}
        onClose={() => {
          setMenu(null);
          setTimeout(() => document.activeElement === document.body && frame.current?.focus({ preventScroll: true }));
        }}
        onToggle={opening.toggle}
        onAlone={opening.openAlone}
        onCentre={({ node }) => camera.centre(scene.boxes[places.get(node.id) ?? -1] ?? scene)}
      />
    </div>
  );
}

/** Follows the zoom, so that nothing else has to. */
function Distance() {
  const zoom = useStore((state) => state.transform[2]);
  useEffect(() => setZoom(zoom), [zoom]);
  return null;
}

function toNode(box: Box): BoxNode {
  const { node, x, y, width, height, depth } = box;
  return {
    id: node.id,
    type: node.open ? "frame" : "card",
    position: { x, y },
    width,
    height,
    data: { box },
    zIndex: node.open ? depth : 700, // the lines lie between them
    handles: [],
  };
}

function keptDirection(): Direction {
  try {
    return localStorage.getItem(DIRECTION) === "LR" ? "LR" : "TB";
  } catch {
    return "TB"; // a browser that keeps nothing
  }
}

function keepDirection(direction: Direction): void {
  try {
    localStorage.setItem(DIRECTION, direction);
  } catch {
    // chosen for this page only
  }
}
