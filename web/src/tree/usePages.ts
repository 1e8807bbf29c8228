/** The pages of the open scopes: the first ones, those that came into sight, and those that hold what is looked for. */

import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import * as asks from "../api/asks";
import { take } from "../api/client";
import { scopeQuery } from "../api/queries";
import { scopesAbove } from "../graph/contract";
import { useRevision, useView } from "../state/view";
import type { Pages, ScopeView } from "./rows";

interface Wanted {
  /** The graph that the pages are of. */
  of: string;
  pages: ReadonlyMap<string, ReadonlySet<number>>;
}

export interface OpenPages {
  scopes: ReadonlyMap<string, Pages>;
  error: Error | null;
  want(path: string, offset: number): void;
}

/** `isShown`: while nothing of it is to be seen, nothing is asked for. */
export function usePages(job: string, graph: string, open: ReadonlySet<string>, isShown: boolean): OpenPages {
  const revision = useRevision(job, graph);
  const of = `${job}\n${graph}\n${revision}`;
  const [wanted, setWanted] = useState<Wanted>({ of, pages: new Map() });
  const pages = wanted.of === of ? wanted.pages : null;
  const want = useCallback(
    (path: string, offset: number) =>
      setWanted((present) => {
        const known = present.of === of ? present.pages : new Map<string, ReadonlySet<number>>();
        if (offset === 0 || known.get(path)?.has(offset)) return present;
        return { of, pages: new Map([...known, [path, new Set([...(known.get(path) ?? []), offset])]]) };
      }),
    [of],
  );
  const asked = useMemo(() => {
    const paths = ["", ...[...open].filter((path) => !path.startsWith("\0"))];
    return paths.flatMap((path) => [0, ...(pages?.get(path) ?? [])].map((offset) => ({ path, offset })));
  }, [open, pages]);
  const combine = useCallback((results: { data?: ScopeView; error: Error | null }[]) => {
    const scopes = new Map<string, Map<number, ScopeView>>();
    for (const { data } of results) {
      if (!data) continue;
      const known = scopes.get(data.path);
      if (known) known.set(data.offset, data);
      else scopes.set(data.path, new Map([[data.offset, data]]));
    }
    return { scopes, error: results.find((each) => each.error)?.error ?? null };
  }, []);
  const { scopes, error } = useQueries({
    queries: asked.map(({ path, offset }) => ({
      ...scopeQuery(job, graph, revision, path, offset),
      retry: false,
      enabled: isShown,
    })),
    combine,
  });
  useLookedFor(job, graph, revision, scopes, want);
  return { scopes, error, want };
}

/** What is selected, or shall be shown in the list, may be on a page that nobody has come to yet. */
function useLookedFor(
  job: string,
  graph: string,
  revision: number,
  scopes: ReadonlyMap<string, Pages>,
  want: OpenPages["want"],
): void {
  const client = useQueryClient();
  const selected = useView((state) => state.selected?.name);
  const inList = useView((state) => state.inList?.name);
  const asked = useRef(new Set<string>());
  useEffect(() => {
    for (const name of new Set([selected, inList])) {
      const steps = name === undefined ? [] : missingSteps(name, scopes);
      for (const { path, child } of steps) {
        const key = [job, graph, revision, path, child].join("\n");
        if (asked.current.has(key)) continue;
        asked.current.add(key);
        take(asks.scope(job, graph, path, { around: child }))
          .then((page) => {
            client.setQueryData(scopeQuery(job, graph, revision, path, page.offset).queryKey, page);
            want(path, page.offset);
          })
          .catch(() => asked.current.delete(key));
      }
    }
  }, [job, graph, revision, scopes, selected, inList, client, want]);
}

/** On the way to a name, the scopes that have come in part, and not with the part that the way goes through. */
export function missingSteps(name: string, scopes: ReadonlyMap<string, Pages>): { path: string; child: string }[] {
  const way = ["", ...scopesAbove(name), name];
  return way.slice(0, -1).flatMap((path, at) => {
    const [pages, child] = [scopes.get(path), way[at + 1]!];
    if (!pages) return [];
    const parts = [...pages.values()];
    const isWhole = parts.reduce((sum, part) => sum + part.children.length, 0) === parts[0]!.total;
    if (isWhole || parts.some((part) => part.children.some((each) => each.path === child))) return [];
    return [{ path, child }];
  });
}
