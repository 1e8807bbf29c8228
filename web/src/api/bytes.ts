/** Answers that are bytes, with a header of JSON that says what they are. */

import { ApiError, fromProblem } from "./client";

export interface Bytes<Header> {
  header: Header;
  bytes: ArrayBuffer;
}

export async function takeBytes<Header>(address: string, headerName: string, signal: AbortSignal): Promise<Bytes<Header>> {
  let response: Response;
  try {
    response = await fetch(address, { signal });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("", "unreachable", 0);
  }
  if (!response.ok) throw fromProblem(await response.json().catch(() => null), response.status);
  const header = JSON.parse(response.headers.get(headerName) ?? "null") as Header;
  return { header, bytes: await response.arrayBuffer() };
}
