/** What the actions do, for whoever asks: keys, buttons, the canvas's menu. One provider around the page. */

import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Command, type JobView, sendCommand } from "../api/client";
import { useText } from "../i18n";
import { errorText } from "../i18n/errors";
import { leaveTensor, reveal } from "../state/address";
import { JOBS, putJob } from "../state/events";
import { hasEnded } from "../state/job";
import { Sender } from "../state/sender";
import { useView, view } from "../state/view";
import { useWatch, watchView } from "../watch/state";
import { type Action, actionOf, KEYS, type Situation } from "./keys";
import { afterPaint } from "./afterPaint";
import { sideOf } from "./standing";

interface Actions {
  situation: Situation;
  possible(action: Action): boolean;
  do(action: Action): void;
  run(steps: number): void;
  runTo(node: string): void;
  /** What is open. */
  asking: boolean;
  helping: boolean;
  closeDialogs(): void;
  terminate(): void;
}

interface Wanted {
  job: string;
  action: Action;
  command: Partial<Command> & Pick<Command, "kind">;
}

function isNodeStep(action: Action): boolean {
  return action === "next_node" || action === "previous_node";
}

const SHOWN_BUSY = 100; // milliseconds that a command may take before it shows: most are over in a few

const Context = createContext<Actions | null>(null);

export function useActions(): Actions {
  const actions = use(Context);
  if (!actions) throw new Error("outside of ActionsProvider");
  return actions;
}

interface Props {
  job: JobView | null;
  graph: string | null;
  op: string | null;
  children: ReactNode;
}

export function ActionsProvider({ job, graph, op, children }: Props) {
  const text = useText();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [dialog, setDialog] = useState<"none" | "terminate" | "help">("none");
  const closeDialogs = useCallback(() => setDialog("none"), []);
  const situation = useMemo<Situation>(() => ({ job, op, busy }), [job, op, busy]);

  const latest = useRef({ job, graph, text });
  latest.current = { job, graph, text };
  const [{ sender, perform }] = useState(() => {
    const perform = async ({ job: id, action, command }: Wanted) => {
      const job = client.getQueryData<JobView[]>(JOBS)?.find((each) => each.id === id) ?? null;
      if (!KEYS[action].possible({ job, op: command.node ?? null, busy: false })) return;
      if (action === "recheck") useWatch.setState({ recheckedFrom: job?.hits_revision ?? 0 });
      const late = setTimeout(() => setBusy(true), SHOWN_BUSY);
      try {
        await putJob(client, await sendCommand(id, command));
      } catch (error) {
        const { text } = latest.current;
        notifications.show({ id: "command", color: "red", title: text.commandFailed, message: errorText(error as Error, text) });
      } finally {
        clearTimeout(late);
        setBusy(false);
      }
    };
    const one = ([wanted]: Wanted[]) => perform(wanted as Wanted);
    return { perform, sender: new Sender<Wanted>(one, () => 1) };
  });
  const asked = useRef<Action | null>(null); // last
  const send = useCallback(
    (action: Action, command: Wanted["command"]) => {
      const { job } = latest.current;
      const isTwice = sender.isBusy && asked.current === action && !isNodeStep(action); // a second F5 is none for the next stop
      if (!job || isTwice) return;
      asked.current = action;
      const wanted = { job: job.id, action, command };
      if (action === "terminate") void perform(wanted); // it waits for nothing
      else sender.put(wanted);
    },
    [sender, perform],
  );

  // The same from pause to pause, for the graph, which is not to be drawn anew for it.
  const runTo = useCallback(
    (node: string) => send("run_to", { kind: "run_to", node, graph: latest.current.graph ?? "", ...sideOf(latest.current.job) }),
    [send],
  );

  const act = useCallback(
    (action: Action) => {
      // What is asked for while a command is on its way waits for its turn, and is judged then.
      if (!KEYS[action].possible({ ...situation, busy: false })) return;
      switch (action) {
        case "help":
          setDialog("help");
          break;
        case "search":
          leaveTensor();
          view.focusSearch();
          break;
        case "terminate":
          setDialog("terminate");
          break;
        case "current_node":
          if (job?.cursor) reveal({ kind: "node", name: job.cursor.node }, job.cursor.graph);
          break;
        case "run_to":
          if (op) runTo(op);
          break;
        case "new_watchpoint":
          watchView.openNew(graph, useView.getState().selected);
          break;
        case "recheck":
          send(action, { kind: "recheck" });
          break;
        case "next_node":
          send(action, { kind: "next_node", ...sideOf(job) });
          break;
        default:
          send(action, { kind: action });
      }
    },
    [situation, send, runTo, job, op, graph],
  );

  useKeys(act, sender);
  useCursor(job);

  const actions = useMemo<Actions>(
    () => ({
      situation,
      possible: (action) => KEYS[action].possible(situation),
      do: act,
      run: (steps) => send("resume", { kind: "run", steps }),
      runTo,
      asking: dialog === "terminate" && job !== null && !hasEnded(job),
      helping: dialog === "help",
      closeDialogs,
      terminate: () => {
        closeDialogs();
        send("terminate", { kind: "terminate" });
      },
    }),
    [situation, act, send, runTo, dialog, job, closeDialogs],
  );
  return <Context value={actions}>{children}</Context>;
}

/** The keys of the table, everywhere on the page. The browser's own meaning of them (F5!) is held back. */
function useKeys(act: (action: Action) => void, sender: Sender<Wanted>): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = actionOf(event);
      if (!action) return;
      event.preventDefault();
      if (!event.repeat || (isNodeStep(action) && !sender.isBusy)) latest.current(action);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [sender]);
}

/**
 * A step that comes to stand at another node brings that node into the picture; so does the first look at a job. Whoever
 * looks at a tensor goes on looking at it.
 */
function useCursor(job: JobView | null): void {
  const cursor = job?.cursor;
  const key = cursor ? `${job.id} ${job.step} ${cursor.position} ${cursor.moment}` : "";
  const seen = useRef<string | null>(null);
  useEffect(() => {
    const { selected, tensor } = useView.getState();
    const isFirst = seen.current === null && selected === null;
    const isNew = key !== "" && (isFirst || (seen.current !== null && key !== seen.current));
    seen.current = key;
    if (isNew && cursor && !tensor) return afterPaint(() => reveal({ kind: "node", name: cursor.node }, cursor.graph, true));
  }, [key, cursor]);
}
