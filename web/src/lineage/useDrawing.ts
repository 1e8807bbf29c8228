/** The lineage of a tensor, asked for and drawn as far as it is wanted, with what is known of each node. */

import { keepPreviousData, queryOptions, skipToken, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, type JobView, type NodeView, take } from "../api/client";
import { nodeQuery } from "../api/queries";
import { type Hit, useConditions } from "../api/watch";
import { useText } from "../i18n";
import { useRevision } from "../state/view";
import { useHitMarks } from "../watch/useHits";
import { type Layout, layOut } from "./layout";
import { type DrawnNode, type Drawing, type Extent, type Fold, type Lineage, MOST_HOPS, select, type Step } from "./select";
import { foldSize, nodeLabel, sized, slotMark, type SlotMark, slotsOf } from "./sizes";
import type { Tensor } from "./state";

/** Nodes whose outputs are looked up; of the others those that lines leave from are drawn. */
const MOST_ASKED = 60;
const NO_HITS: readonly Hit[] = [];

function lineageQuery(job: string, { graph, node, slot }: Tensor, revision: number, hops: number) {
  return queryOptions({
    queryKey: ["lineage", job, graph, revision, node, slot, hops],
    queryFn: ({ signal }) =>
      take(
        api.GET("/api/jobs/{job}/graphs/{graph}/lineage", {
          params: { path: { job, graph }, query: { node, slot, hops } },
          signal,
        }),
      ),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

/** A node as it is drawn. */
export interface NodeCard {
  node: DrawnNode;
  op: string;
  rest: string;
  slots: SlotMark[];
  /** Outputs that are not drawn. */
  hidden: number;
  /** Places on the path, from 1 on; 0 off it. */
  step: number;
}

export interface Picture {
  lineage: Lineage;
  drawing: Drawing;
  layout: Layout;
  cards: ReadonlyMap<string, NodeCard>;
  folds: ReadonlyMap<string, Fold>;
}

export function useDrawing(
  job: JobView,
  tensor: Tensor,
  extent: Omit<Extent, "first">,
  path: readonly Step[],
): { picture: Picture | null; error: Error | null } {
  const text = useText().lineage;
  const conditions = useConditions();
  const revision = useRevision(job.id, tensor.graph);
  const { byNode } = useHitMarks(job, tensor.graph);
  // One hop more than is drawn, to say how much there is.
  const hops = Math.min(MOST_HOPS, Math.max(extent.up, extent.down) + 1);
  const { data: lineage, error } = useQuery(lineageQuery(job.id, tensor, revision, hops));
  const { up, down, unfolded } = extent;
  const drawing = useMemo(
    () => lineage && select(lineage, { up, down, unfolded, first: new Set(byNode.keys()) }, path),
    [lineage, up, down, unfolded, byNode, path],
  );
  const nodes = useNodes(job.id, tensor.graph, revision, drawing);
  const picture = useMemo(() => {
    if (!lineage || !drawing) return null;
    const short = (condition: string) => conditions.find(({ id }) => id === condition)?.abbreviation ?? condition;
    return drawn(lineage, drawing, path, (node) => {
      const view = nodes.get(node.id);
      const hits = byNode.get(node.id) ?? NO_HITS;
      const outputs = view ? view.outputs.map(({ slot }) => slot) : null;
      const slots = slotsOf(node, outputs, hits).map((slot) => slotMark(slot, text.slot(slot), hits, short));
      return { slots, hidden: outputs ? outputs.filter((slot) => !slots.some((each) => each.slot === slot)).length : 0 };
    }, text.more);
  }, [lineage, drawing, nodes, byNode, conditions, path, text]);
  return { picture, error };
}

function useNodes(job: string, graph: string, revision: number, drawing: Drawing | undefined): ReadonlyMap<string, NodeView> {
  const names = (drawing?.nodes ?? []).filter(({ kind }) => kind === "node").map(({ id }) => id);
  return useQueries({
    queries: names.slice(0, MOST_ASKED).map((name) => nodeQuery(job, graph, revision, name)),
    combine: combined,
  });
}

function combined(results: readonly { data?: NodeView | undefined }[]): ReadonlyMap<string, NodeView> {
  return new Map(results.flatMap(({ data }) => (data ? [[data.name, data] as const] : [])));
}

function drawn(
  lineage: Lineage,
  drawing: Drawing,
  path: readonly Step[],
  about: (node: DrawnNode) => Pick<NodeCard, "slots" | "hidden">,
  more: (count: number) => string,
): Picture {
  const steps = new Map(path.map(({ node }, at) => [node, at + 1]));
  const cards = new Map<string, NodeCard>();
  const folds = new Map<string, Fold>();
  const boxes = drawing.nodes.map((node) => {
    if (node.kind === "fold") {
      folds.set(node.id, node);
      return foldSize(node, more(node.count));
    }
    const step = steps.get(node.id) ?? 0;
    const { width, ...label } = nodeLabel(node, step > 0);
    const card: NodeCard = { node, ...label, ...about(node), step };
    cards.set(node.id, card);
    return sized(node.id, width, card.slots, card.hidden);
  });
  return { lineage, drawing, layout: layOut(boxes, drawing.lines, lineage.name), cards, folds };
}

/** Where an input of a node comes from; `tensor` itself where it is an output. Null while that is not known, or nothing. */
export function useProducer(job: JobView, tensor: Tensor, input: number | undefined): { tensor: Tensor | null; isKnown: boolean } {
  const revision = useRevision(job.id, tensor.graph);
  const query = nodeQuery(job.id, tensor.graph, revision, tensor.node);
  const { data } = useQuery(input === undefined ? { ...query, queryFn: skipToken } : query);
  if (input === undefined) return { tensor, isKnown: true };
  const port = data?.inputs.find(({ index }) => index === input);
  return { tensor: port?.node ? { graph: tensor.graph, node: port.node, slot: port.slot } : null, isKnown: data !== undefined };
}
