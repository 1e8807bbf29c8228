/** Opens and closes scopes and stacks, and turns their pages. */

import { useCallback, useEffect, useMemo, useState } from "react";
import type { GraphViewProps } from "./contract";
import { scopesAbove } from "./contract";
import type { Box } from "./scene";
import { openKey, STACK } from "./useScene";

export interface Opening {
  /** Of pages, by the id of what is open. */
  offsets: ReadonlyMap<string, number>;
  setOffsets(changed: Iterable<[string, number]>): void;
  toggle(box: Box): void;
  openAlone(box: Box): void;
  collapseAll(): void;
}

export function useOpening(props: GraphViewProps): Opening {
  const { job, graph, openScopes, onOpenChange, onOpenScopes } = props;
  const [offsets, setAllOffsets] = useState<ReadonlyMap<string, number>>(new Map());
  const of = `${job.id}\n${graph}`;
  useEffect(() => setAllOffsets(new Map()), [of]);

  const setOffsets = useCallback((changed: Iterable<[string, number]>) => {
    setAllOffsets((old) => {
      const entries = [...changed].filter(([id, offset]) => (old.get(id) ?? 0) !== offset);
      return entries.length === 0 ? old : new Map([...old, ...entries]);
    });
  }, []);

  const toggle = useCallback(
    (box: Box) => {
      const { node } = box;
      if (node.kind === "node") return;
      if (!node.open || node.kind === "scope") {
        onOpenChange(openKey(node), !node.open);
        return;
      }
      // A stack is open also because one of its members is: they close with it.
      const alike = pattern(node.id.slice(0, -1));
      const depth = node.id.split("/").length;
      const isMember = (path: string) => pattern(path.split("/").slice(0, depth).join("/")) === alike;
      onOpenScopes([...openScopes].filter((path) => path !== STACK + node.id && !isMember(path)));
    },
    [openScopes, onOpenChange, onOpenScopes],
  );

  const openAlone = useCallback(
    ({ node }: Box) => {
      const name = node.kind === "stack" ? node.id.slice(0, -1) : node.id;
      const above = new Set(scopesAbove(name));
      const stacks = [...openScopes].filter(
        (path) => path.startsWith(STACK) && isInPattern(name, path.slice(1, -1)),
      );
      onOpenScopes([...above, ...stacks, openKey(node)]);
    },
    [openScopes, onOpenScopes],
  );

  const collapseAll = useCallback(() => {
    setAllOffsets(new Map());
    onOpenScopes([]);
  }, [onOpenScopes]);

  return useMemo(
    () => ({ offsets, setOffsets, toggle, openAlone, collapseAll }),
    [offsets, setOffsets, toggle, openAlone, collapseAll],
  );
}

/** A name with its numbers taken out: the same for all members of a stack. */
function pattern(name: string): string {
  return name.replace(/\d+/g, "0");
}

/** Whether a name is, or lies in, a sibling of `first` that differs from it in numbers only. */
function isInPattern(name: string, first: string): boolean {
  const depth = first.split("/").length;
  return pattern(name.split("/").slice(0, depth).join("/")) === pattern(first);
}
