/** What there is to say of a scope. */

import { Badge, Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { JobView } from "../api/client";
import { scopeQuery } from "../api/queries";
import { CopyButton } from "../app/Copy";
import { useText } from "../i18n";
import { number } from "../i18n/numbers";
import { useOpenScopes, useRevision, view } from "../state/view";

export function ScopeDetails({ job, graph, path }: { job: JobView; graph: string; path: string }) {
  const text = useText();
  const revision = useRevision(job.id, graph);
  const { data: scope } = useQuery(scopeQuery(job.id, graph, revision, path));
  const isOpen = useOpenScopes(job.id, graph).has(path);
  return (
    <div className="ss-scope">
      <div className="ss-details-title">
        <span className="ss-mono ss-ellipsis" title={path} data-testid="selected-name"><bdi>{path}</bdi></span>
        <CopyButton value={path} />
        <Badge size="sm" variant="light" color="gray" className="ss-badge">{text.kind.scope}</Badge>
      </div>
      <p>{text.scopeSelected}</p>
      <Group gap="md">
        <Button size="xs" variant="default" onClick={() => view.setOpen(path, !isOpen)}>
          {isOpen ? text.scopeClose : text.scopeOpen}
        </Button>
        {scope && <span>{text.scopeNodes}: {number(scope.nodes)}</span>}
      </Group>
    </div>
  );
}
