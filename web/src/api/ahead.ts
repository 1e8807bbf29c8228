/**
 * What the page will ask first, asked before its own code has come: `start.ts` asks, and whoever asks the same a moment
 * later gets that answer. An answer is given out once; what nobody asked for is dropped.
 */

const KEPT = 10_000; // milliseconds

const answers = new Map<string, Promise<Response>>();

/** A `fetch` whose answer is for the next one who asks the same; the caller gets a copy. */
export async function fetchAhead(request: Request): Promise<Response> {
  const answer = fetch(request);
  answers.set(request.url, answer);
  answer.catch(() => answers.delete(request.url));
  setTimeout(() => answers.delete(request.url), KEPT);
  return (await answer).clone();
}

/** The `fetch` of the page. */
export function fetchOrTake(request: Request): Promise<Response> {
  const known = request.method === "GET" ? answers.get(request.url) : undefined;
  if (!known) return fetch(request);
  answers.delete(request.url);
  return known;
}

/** The WebSocket of events, opened ahead, with what has come over it. */
export interface EarlySocket {
  socket: WebSocket;
  messages: string[];
}

let early: EarlySocket | null = null;

export function eventsAddress(since: number | null): string {
  const query = since === null ? "" : `?since=${since}`;
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/events${query}`;
}

/** Opens it. Done at the first message: what is asked for after that misses no event. */
export function listenAhead(): Promise<void> {
  const socket = new WebSocket(eventsAddress(null));
  const messages: string[] = [];
  early = { socket, messages };
  return new Promise((resolve) => {
    socket.onmessage = (message) => {
      messages.push(message.data as string);
      resolve();
    };
    socket.onclose = () => {
      early = null; // the page tries again
      resolve();
    };
  });
}

/** The socket that was opened ahead, for the one who follows it from now on; null where there is none. */
export function takeSocket(): EarlySocket | null {
  const taken = early;
  early = null;
  return taken;
}
