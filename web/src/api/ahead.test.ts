import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fetchAhead, fetchOrTake } from "./ahead";

const request = (path: string, method = "GET") => new Request(`http://here${path}`, { method });
let asked: string[] = [];

beforeEach(() => {
  asked = [];
  vi.useFakeTimers();
  vi.stubGlobal("fetch", async ({ method, url }: Request) => {
    asked.push(`${method} ${url.slice("http://here".length)}`);
    if (url.endsWith("/broken")) throw new TypeError("no server");
    return new Response(`answer ${asked.length}`);
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const text = async (answer: Promise<Response>) => (await answer).text();

describe("what is asked ahead", () => {
  it("is given to the next one who asks the same, and to nobody else", async () => {
    expect(await text(fetchAhead(request("/a?x=1")))).toBe("answer 1");
    expect(await text(fetchOrTake(request("/a?x=2")))).toBe("answer 2");
    expect(await text(fetchOrTake(request("/a?x=1")))).toBe("answer 1");
    expect(await text(fetchOrTake(request("/a?x=1")))).toBe("answer 3");
    expect(asked).toEqual(["GET /a?x=1", "GET /a?x=2", "GET /a?x=1"]);
  });

  it("is no answer to a change", async () => {
    await fetchAhead(request("/a"));
    expect(await text(fetchOrTake(request("/a", "POST")))).toBe("answer 2");
  });

  it("is dropped when nobody asks for it", async () => {
    await fetchAhead(request("/a"));
    vi.advanceTimersByTime(60_000);
    expect(await text(fetchOrTake(request("/a")))).toBe("answer 2");
  });

  it("is asked again where there was no answer", async () => {
    await expect(fetchAhead(request("/broken"))).rejects.toThrow("no server");
    await expect(fetchOrTake(request("/broken"))).rejects.toThrow("no server");
    expect(asked).toHaveLength(2);
  });
});
