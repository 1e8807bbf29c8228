/** Decides what is shown: waiting for a training, the job of the address, or why there is none. */

import { Button, Center, Loader, Stack, Text } from "@mantine/core";
import { useDeferredValue, useEffect } from "react";
import { ApiError, type JobView } from "../api/client";
import { useJobs } from "../api/queries";
import { ActionsProvider } from "../control/actions";
import { Dialogs } from "../control/Dialogs";
import { useText } from "../i18n";
import { go } from "../state/address";
import { graphShown } from "../state/place";
import { useView } from "../state/view";
import { ConnectionBanner } from "./banners";
import { Debugger } from "./Debugger";
import { TopBar } from "./TopBar";
import { useNewJobs } from "./useNewJobs";
import { useSelectedOp } from "./useSelectedOp";
import { Waiting } from "./Waiting";

export function Page() {
  const text = useText();
  const jobs = useJobs();
  const wanted = useView((state) => state.job);
  const job = jobs.data?.find((each) => each.id === wanted) ?? null;
  const graph = useGraphOf(job);
  const op = useSelectedOp(job, graph);
  useNewJobs(jobs.data, wanted, job);
  useEffect(() => {
    document.title = job ? `${job.title} · ${text.state[job.state]} · ${text.stepOf} ${job.step} – stepscope` : "stepscope";
  }, [job, text]);

  return (
    <ActionsProvider job={job} graph={graph} op={op}>
      <div className="ss-page">
        <TopBar jobs={jobs.data ?? []} job={job} />
        <ConnectionBanner />
        <main className="ss-main">
          <Body jobs={jobs.data} error={jobs.error} wanted={wanted} job={job} graph={graph} />
        </main>
      </div>
      <Dialogs />
    </ActionsProvider>
  );
}

interface BodyProps {
  jobs: JobView[] | undefined;
  error: Error | null;
  wanted: string | null;
  job: JobView | null;
  graph: string | null;
}

function Body({ jobs, error, wanted, job, graph }: BodyProps) {
  const text = useText();
  // The largest part of the page is rendered in slices, after the line that says where the training stands.
  const shown = useDeferredValue(job, null);
  const graphShown = useDeferredValue(graph, null);
  if (job) return shown?.id === job.id ? <Debugger job={shown} graph={graphShown} /> : null;
  if (error instanceof ApiError && error.status === 401) return <Sentence text={text.unauthorized} />;
  if (!jobs) return error ? null : <Center h="100%"><Loader role="progressbar" aria-label={text.loading} /></Center>;
  if (wanted === null) return <Waiting jobs={jobs} />;
  return (
    <Sentence text={text.unknownJob}>
      <Button onClick={() => go({ job: null, graph: null, selected: null })}>{text.toStart}</Button>
    </Sentence>
  );
}

function Sentence({ text, children }: { text: string; children?: React.ReactNode }) {
  return (
    <Center h="100%">
      <Stack align="center">
        <Text>{text}</Text>
        {children}
      </Stack>
    </Center>
  );
}

function useGraphOf(job: JobView | null): string | null {
  const wanted = useView((state) => state.graph);
  const graph = job && graphShown(job, wanted);
  useEffect(() => {
    if (graph !== null && graph !== useView.getState().graph) useView.setState({ graph });
  }, [graph]);
  return graph;
}
