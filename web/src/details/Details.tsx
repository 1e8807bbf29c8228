/** The panel below the graph: all there is to know of what is selected. */

import { Badge, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, type JobView, type NodeView } from "../api/client";
import { nodeNowQuery } from "../api/queries";
import { CopyButton } from "../app/Copy";
import { type Texts, useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { useMoment } from "../state/job";
import { useRevision, useView } from "../state/view";
import { NodeInfo } from "./NodeInfo";
import { NodeLink } from "./NodeLink";
import { ScopeDetails } from "./ScopeDetails";
import { SourceLines } from "./SourceLines";
import { hasStack, Stack } from "./Stack";
import { TensorTable } from "./TensorTable";

export function Details({ job, graph }: { job: JobView; graph: string | null }) {
  const text = useText();
  const selected = useView((state) => state.selected);
  if (!selected || graph === null) {
    return (
      <>
        <p className="ss-note">{text.nothingSelected}</p>
        {hasStack(job) && <div className="ss-tab"><Stack job={job} /></div>}
      </>
    );
  }
  if (selected.kind === "scope") return <ScopeDetails job={job} graph={graph} path={selected.name} />;
  return <OfNode job={job} graph={graph} name={selected.name} />;
}

function OfNode({ job, graph, name }: { job: JobView; graph: string; name: string }) {
  const text = useText();
  const revision = useRevision(job.id, graph);
  const { moment } = useMoment(job);
  const { data: node, error } = useQuery(nodeNowQuery(job, graph, revision, name, moment));
  const [chosen, setTab] = useState<string | null>("tensors");
  const withStack = hasStack(job);
  const tab = chosen === "stack" && !withStack ? "tensors" : chosen; // it comes back when the training stands again
  if (error) return <Unknown graph={graph} name={name} error={error} />;
  if (!node) return <p className="ss-note">{text.loading}</p>;
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false} className="ss-tabs">
      <div className="ss-details-head">
        <Tabs.List>
          <Tabs.Tab value="tensors">{text.tensors}</Tabs.Tab>
          <Tabs.Tab value="node">{text.nodeInfo}</Tabs.Tab>
          <Tabs.Tab value="source">{text.source}</Tabs.Tab>
          {withStack && <Tabs.Tab value="stack">{text.stack}</Tabs.Tab>}
        </Tabs.List>
        <Title node={node} />
      </div>
      <Tabs.Panel value="tensors" className="ss-tab"><TensorTable job={job} node={node} /></Tabs.Panel>
      <Tabs.Panel value="node" className="ss-tab"><NodeInfo job={job} node={node} /></Tabs.Panel>
      <Tabs.Panel value="source" className="ss-tab"><SourceLines node={node} /></Tabs.Panel>
      {withStack && <Tabs.Panel value="stack" className="ss-tab"><Stack job={job} /></Tabs.Panel>}
    </Tabs>
  );
}

/** A name that is not in the graph, such as that of an old link, with those that come near. */
function Unknown({ graph, name, error }: { graph: string; name: string; error: Error }) {
  const text = useText();
  const nearest = error instanceof ApiError ? error.nearest : [];
  return (
    <div className="ss-note" role="alert">
      <p>{errorText(error, text)} <span className="ss-mono">{name}</span></p>
      <ul className="ss-neighbours">
        {nearest.map((each) => <li key={each}><NodeLink graph={graph} name={each} /></li>)}
      </ul>
    </div>
  );
}

function Title({ node }: { node: NodeView }) {
  const text = useText();
  return (
    <div className="ss-details-title">
      <span className="ss-mono ss-ellipsis" title={node.name} data-testid="selected-name"><bdi>{node.name}</bdi></span>
      <CopyButton value={node.name} />
      <Badge size="sm" variant="light" color="gray" className="ss-badge">{node.op || text.kind[node.kind]}</Badge>
      {categoriesOf(node, text).map((category) => (
        <Badge key={category} size="sm" variant="outline" color="gray" className="ss-badge">{category}</Badge>
      ))}
    </div>
  );
}

function categoriesOf(node: NodeView, text: Texts): string[] {
  const names: Record<string, string> = { ...text.categories, parameter: text.kind.parameter };
  return node.categories.filter((each) => each !== "parameter").map((each) => names[each] ?? each);
}
