/** The values of the table: blocks of this step and of the one before, as far as they are here. */

import { useCallback, useMemo, useRef, useSyncExternalStore } from "react";
import { tensorAddress, type TensorPlace } from "../api/queries";
import { fetchValues, type Values } from "../api/tensor";
import { BlockStore } from "./blocks";
import type { Source } from "./cells";
import type { Of, Shown } from "./parts";
import { around, type Block, blockOf, blocksOf, type Sheet, type Window } from "./sheet";

type When = "current" | "previous";

export interface TableValues {
  /** Where the values of a cell are; null where there is no cell. */
  at(row: number, column: number): { source: Source; place: number } | null;
  /** Asks for what is in sight, then for what is around it. */
  want(window: Window): void;
  /** All values of a window, for copying. */
  all(window: Window): Promise<(row: number, column: number) => { source: Source; place: number } | null>;
  error: Error | null;
  retry(): void;
  /** The values are those of the pause before. */
  isOld: boolean;
  /** Rises when something has come. */
  version: string;
}

const NEEDED: Record<Of, readonly When[]> = { current: ["current"], previous: ["previous"], difference: ["current", "previous"] };

export function useValues(shown: Shown, sheet: Sheet): TableValues {
  const { place, moment, of, isLive, index } = shown;
  const current = useStore(place, moment, "current", index);
  const previous = useStore(place, moment, "previous", index);
  const version = `${useVersion(current)} ${useVersion(previous)}`;
  const stores = useMemo(() => ({ current, previous }), [current, previous]);
  const before = useRef({ stores, index, of });
  const needed = NEEDED[of];
  const isHere = needed.every((when) => !stores[when].isEmpty);
  if (isHere || before.current.index !== index || before.current.of !== of) before.current = { stores, index, of };
  const read = before.current.stores;
  const at = useCallback(
    (row: number, column: number) => {
      const found = blockOf(sheet, row, column);
      if (!found) return null;
      const source: Source = {};
      for (const when of needed) source[when] = read[when].get(found.key);
      return { source, place: found.place };
    },
    [sheet, needed, read],
  );
  const want = useCallback(
    (window: Window) => {
      if (!isLive) return;
      const blocks = unique([...blocksOf(sheet, window), ...blocksOf(sheet, around(window))]);
      for (const when of needed) stores[when].want(blocks);
    },
    [isLive, sheet, needed, stores],
  );
  const all = useCallback(
    async (window: Window) => {
      const blocks = blocksOf(sheet, window);
      const signal = new AbortController().signal;
      const found = new Map<When, Map<string, Values>>();
      for (const when of needed) found.set(when, await read[when].all(blocks, signal));
      return (row: number, column: number) => {
        const block = blockOf(sheet, row, column);
        if (!block) return null;
        return { source: { current: found.get("current")?.get(block.key), previous: found.get("previous")?.get(block.key) }, place: block.place };
      };
    },
    [sheet, needed, read],
  );
  const error = needed.map((when) => stores[when].error).find(Boolean) ?? null;
  const retry = () => needed.forEach((when) => stores[when].retry());
  return { at, want, all, error, retry, isOld: read !== stores, version };
}

function unique(blocks: readonly Block[]): Block[] {
  return [...new Map(blocks.map((block) => [block.key, block])).values()];
}

function useStore(place: TensorPlace, moment: string, when: When, index: string): BlockStore {
  const { job, graph, node, slot, input } = place;
  return useMemo(() => {
    const key = { job, graph, node, slot, input };
    return new BlockStore((piece, signal) => fetchValues(tensorAddress(key, when, piece), signal));
    // a store is of one pause and of one part
  }, [job, graph, node, slot, input, when, moment, index]);
}

function useVersion(store: BlockStore): number {
  return useSyncExternalStore(store.subscribe, store.getVersion);
}
