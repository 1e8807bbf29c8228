/** The page while no training is connected: what to type, for the ports in use, and earlier trainings to review. */

import { ActionIcon, Button, Loader } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, type JobView, take } from "../api/client";
import { useServer } from "../api/queries";
import { useLanguage, useText } from "../i18n";
import { go } from "../state/address";
import { hasEnded } from "../state/job";
import { CommandLine } from "./Copy";
import { TrashIcon } from "./icons";
import { when } from "./JobPicker";
import { Tooltip } from "./Tooltip";

export function Waiting({ jobs }: { jobs: readonly JobView[] }) {
  const text = useText();
  const server = useServer().data;
  if (!server) return null;
  const isOff = server.debugger_address === null;
  return (
    <div className="ss-waiting">
      <section aria-labelledby="waiting-title">
        <h1 id="waiting-title">
          {!isOff && <Loader size="sm" aria-hidden />}
          {text.waiting}
        </h1>
        <p>{isOff ? text.waitOff : text.waitingHint}</p>
        {server.debugger_address !== null && <ToType address={server.debugger_address} workspace={server.workspace} />}
      </section>
      {jobs.length > 0 && <Earlier jobs={jobs} />}
    </div>
  );
}

function ToType({ address, workspace }: { address: string; workspace: string }) {
  const text = useText();
  const [host, port] = splitAddress(address);
  const place = workspace.endsWith("/.stepscope") ? "" : ` --workspace ${quoted(workspace)}`;
  const variables = `export ENABLE_MS_DEBUGGER=1\nexport MS_DEBUGGER_HOST=${host}\nexport MS_DEBUGGER_PORT=${port}\npython train.py`;
  return (
    <>
      <h2>{text.waitRun}</h2>
      <CommandLine value={`stepscope run${place} python train.py`} />
      <h2>{text.waitVariables}</h2>
      <CommandLine value={variables} />
      {!isLoopback(host) && <p>{text.waitToken}</p>}
      <h2>{text.waitDemo}</h2>
      <CommandLine value={`stepscope demo${place}`} />
    </>
  );
}

/** "127.0.0.1:50051" or "[::1]:50051" → host and port. */
export function splitAddress(address: string): [string, string] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at).replace(/^\[|\]$/g, ""), address.slice(at + 1)];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/** As a shell takes it. */
export function quoted(word: string): string {
  return /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function Earlier({ jobs }: { jobs: readonly JobView[] }) {
  const text = useText();
  const language = useLanguage((state) => state.language);
  return (
    <section aria-labelledby="earlier-title">
      <h2 id="earlier-title">{text.earlier}</h2>
      <ul className="ss-earlier">
        {[...jobs].reverse().map((job) => (
          <li key={job.id}>
            <span className={`ss-dot ss-dot-${job.state}`} />
            <span className="ss-earlier-title">{job.title}</span>
            <span className="ss-dimmed">
              {text.state[job.state]} · {text.stepOf} {job.step} · {text.started(when(job.started_at, language))}
            </span>
            <Button size="compact-xs" variant="default" onClick={() => go({ job: job.id, graph: null, selected: null })}>
              {text.review}
            </Button>
            {hasEnded(job) && <Forget job={job.id} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Forget({ job }: { job: string }) {
  const text = useText();
  const client = useQueryClient();
  const forget = async () => {
    await take(api.DELETE("/api/jobs/{job}", { params: { path: { job }, header: { "X-Stepscope": "1" } } }));
    await client.invalidateQueries({ queryKey: ["jobs"] });
  };
  return (
    <Tooltip label={text.forget}>
      <ActionIcon size="sm" aria-label={text.forget} onClick={() => void forget()}>
        <TrashIcon size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
