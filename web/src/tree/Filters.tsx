/** What the node list shows: of which graph, of which category, with which name, made in which line. */

import { ActionIcon, Select, TextInput } from "@mantine/core";
import { memo, useEffect, useRef } from "react";
import { useQuery } from "@tanstack/react-query";
import type { JobView, Schemas } from "../api/client";
import { graphsQuery } from "../api/queries";
import { CloseIcon, DownIcon, SearchIcon, UpIcon } from "../app/icons";
import { Tooltip } from "../app/Tooltip";
import { useText } from "../i18n";
import { number } from "../i18n/numbers";
import { go, reveal } from "../state/address";
import { type CategoryFilter, useView, view } from "../state/view";
import { isFiltering } from "./useRows";

const CATEGORIES: readonly CategoryFilter[] = ["all", "weight", "gradient", "activation"];
const ALL = "\0all";

/** The last wish for the field that was fulfilled; the list may have been out of sight when it was made. */
let focused = 0;

interface Props {
  job: JobView;
  graph: string;
  found: Schemas["NodeList"] | null;
}

export function Filters({ job, graph, found }: Props) {
  const isFiltered = useView((state) => isFiltering(state.filter));
  return (
    <div className="ss-filters">
      <div className="ss-choices">
        <Graphs job={job} graph={graph} />
        <Categories />
      </div>
      <NameField found={found} />
      <LineField />
      {isFiltered && <Matches found={found} />}
    </div>
  );
}

const Graphs = memo(function Graphs({ job, graph }: { job: JobView; graph: string }) {
  const text = useText();
  const isAll = useView((state) => state.filter.allGraphs);
  const summaries = useQuery(graphsQuery(job.id)).data;
  const graphs = job.graphs.map((name) => {
    const summary = summaries?.find((each) => each.name === name);
    return { value: name, label: summary ? `${name} (${number(summary.nodes)})` : name };
  });
  const pick = (name: string | null) => {
    view.filter({ allGraphs: name === ALL });
    if (name !== null && name !== ALL && name !== graph) go({ job: job.id, graph: name, selected: null });
  };
  return (
    <Select
      size="xs" aria-label={text.graph} title={text.graph} value={isAll ? ALL : graph} allowDeselect={false}
      data={job.graphs.length > 1 ? [{ value: ALL, label: text.allGraphs }, ...graphs] : graphs} onChange={pick}
    />
  );
});

const Categories = memo(function Categories() {
  const text = useText();
  const category = useView((state) => state.filter.category);
  return (
    <Select
      size="xs" aria-label={text.category} title={text.category} value={category} allowDeselect={false}
      data={CATEGORIES.map((value) => ({ value, label: text.categories[value] }))}
      onChange={(value) => value && view.filter({ category: value as CategoryFilter })}
    />
  );
});

function NameField({ found }: { found: Schemas["NodeList"] | null }) {
  const text = useText();
  const value = useView((state) => state.filter.text);
  const focusSearch = useView((state) => state.focusSearch);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focusSearch !== focused) field.current?.select();
    focused = focusSearch;
  }, [focusSearch]);
  return (
    <TextInput
      ref={field} size="xs" type="search" aria-label={text.searchName} placeholder={text.searchName} aria-keyshortcuts="/"
      leftSection={<SearchIcon size={13} />} value={value} spellCheck={false} autoComplete="off"
      onChange={(event) => view.filter({ text: event.currentTarget.value })}
      onKeyDown={(event) => {
        if (event.key === "Enter") step(found, event.shiftKey ? -1 : 1);
        else if (event.key === "Escape") view.filter({ text: "" });
        else return;
        event.preventDefault();
      }}
      rightSection={value && <Clear onClick={() => view.filter({ text: "" })} />}
    />
  );
}

const LineField = memo(function LineField() {
  const text = useText();
  const value = useView((state) => state.filter.line);
  return (
    <TextInput
      size="xs" type="search" aria-label={text.searchLine} placeholder={text.searchLine} value={value} spellCheck={false}
      autoComplete="off" onChange={(event) => view.filter({ line: event.currentTarget.value })}
      rightSection={value && <Clear onClick={() => view.filter({ line: "" })} />}
    />
  );
});

function Clear({ onClick }: { onClick(): void }) {
  const text = useText();
  return (
    <ActionIcon size="xs" aria-label={text.clear} onClick={onClick}>
      <CloseIcon size={12} />
    </ActionIcon>
  );
}

/** How many were found, which of them is selected, and the way to the next one. */
function Matches({ found }: { found: Schemas["NodeList"] | null }) {
  const text = useText();
  const selected = useView((state) => state.selected?.name);
  const graph = useView((state) => state.graph);
  if (!found) return <div className="ss-matches">{text.loading}</div>;
  const at = found.nodes.findIndex((node) => node.name === selected && node.graph === graph);
  const words = [
    at < 0 ? text.matches(found.total) : text.matchAt(at + 1, found.total),
    found.total > found.nodes.length ? text.shownFirst(found.nodes.length) : "",
  ];
  return (
    <div className="ss-matches">
      <span role="status" data-testid="matches">{words.filter(Boolean).join(" · ")}</span>
      <span className="ss-grow" />
      <Tooltip label={text.previousMatch}>
        <ActionIcon size="sm" aria-label={text.previousMatch} disabled={found.nodes.length === 0} onClick={() => step(found, -1)}>
          <UpIcon size={13} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={text.nextMatch}>
        <ActionIcon size="sm" aria-label={text.nextMatch} disabled={found.nodes.length === 0} onClick={() => step(found, 1)}>
          <DownIcon size={13} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

/** To the match after or before the selected node, round the ends. */
function step(found: Schemas["NodeList"] | null, by: 1 | -1): void {
  if (!found || found.nodes.length === 0) return;
  const { selected, graph } = useView.getState();
  const at = found.nodes.findIndex((node) => node.name === selected?.name && node.graph === graph);
  const next = at < 0 ? (by > 0 ? 0 : found.nodes.length - 1) : (at + by + found.nodes.length) % found.nodes.length;
  const node = found.nodes[next];
  if (node) reveal({ kind: "node", name: node.name }, node.graph);
}
