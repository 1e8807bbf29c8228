/**
 * The page's ear: the WebSocket of events, connected again whenever it breaks, going on after the last `seq` seen.
 *
 * Jobs live in TanStack Query's cache under JOBS, and a job only ever gets newer there (`revision`): an answer that was
 * overtaken by an event can't take the page back.
 */

import type { QueryClient } from "@tanstack/react-query";
import { create } from "zustand";
import { eventsAddress, takeSocket } from "../api/ahead";
import type { Event, JobView } from "../api/client";
import { view } from "./view";

export const JOBS = ["jobs"] as const;

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 4000;
const LATEST = 50;

/** "starting" until the first answer; "broken" while the server can't be reached. */
export const useConnection = create<{ state: "starting" | "up" | "broken" }>(() => ({ state: "starting" }));

/** The list with `job` in it, unless what is there is newer. */
export function withJob(jobs: readonly JobView[], job: JobView): JobView[] {
  const at = jobs.findIndex((each) => each.id === job.id);
  if (at < 0) return [...jobs, job];
  const present = jobs[at];
  if (present && present.revision >= job.revision) return jobs as JobView[];
  return jobs.map((each, index) => (index === at ? job : each));
}

let news: JobView[] = [];
let shown: Promise<void> | null = null;
let show = () => {};

/**
 * What is new of a job, with the next frame; that it runs, a little later, as most commands are over by then: a node
 * further is one picture, not two. Resolves when it is in the cache.
 */
export function putJob(client: QueryClient, job: JobView): Promise<void> {
  news.push(job);
  shown ??= new Promise<void>((resolve) => { show = resolve; }).then(() => {
    const jobs = news;
    [news, shown] = [[], null];
    if (client.getQueryData(JOBS)) client.setQueryData<JobView[]>(JOBS, (known) => known && jobs.reduce(withJob, known));
    else void client.invalidateQueries({ queryKey: JOBS }); // the answer on its way may be older
  });
  if (job.state !== "running") requestAnimationFrame(show); // none comes while the page is out of sight
  setTimeout(show, LATEST);
  return shown;
}

/** Follows the events for as long as the page lives. Returns how to stop. */
export function followEvents(client: QueryClient): () => void {
  let since: number | null = null;
  let pause = FIRST_PAUSE;
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const take = (event: Event, isFirst = false) => {
    since = event.seq;
    switch (event.type) {
      case "job":
        void putJob(client, event.job);
        break;
      case "graph":
        view.graphChanged(event.job_id, event.graph.name);
        void client.invalidateQueries({ queryKey: ["graphs", event.job_id] });
        break;
      case "job_removed":
        client.setQueryData<JobView[]>(JOBS, (jobs) => jobs?.filter((job) => job.id !== event.job_id));
        break;
      case "server":
        client.setQueryData(["server"], event.server);
        if (!isFirst) void client.invalidateQueries();
    }
  };

  const connect = () => {
    const early = takeSocket(); // what the page asked for, it asked for after its first message
    socket = early?.socket ?? new WebSocket(eventsAddress(since));
    socket.onopen = () => {
      pause = FIRST_PAUSE;
      useConnection.setState({ state: "up" });
    };
    socket.onmessage = (message) => take(JSON.parse(message.data as string) as Event);
    socket.onclose = () => {
      if (stopped) return;
      useConnection.setState({ state: "broken" });
      timer = setTimeout(connect, pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    };
    if (socket.readyState === WebSocket.OPEN) useConnection.setState({ state: "up" });
    early?.messages.forEach((message, at) => take(JSON.parse(message) as Event, at === 0));
  };

  connect();
  return () => {
    stopped = true;
    clearTimeout(timer);
    socket?.close();
  };
}
