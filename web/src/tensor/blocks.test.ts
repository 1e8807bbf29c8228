import { describe, expect, it } from "vitest";
import type { Values } from "../api/tensor";
import { BlockStore } from "./blocks";

const block = (key: string) => ({ key, index: `${key}:` });
const blocks = (...keys: string[]) => keys.map(block);
const values = (size = 100) => ({ size }) as Values;

/** A loader whose answers come when the test says so. */
function loader() {
  const asked: string[] = [];
  const open = new Map<string, { resolve(values: Values): void; reject(error: Error): void; signal: AbortSignal }>();
  const load = (index: string, signal: AbortSignal) => {
    asked.push(index);
    return new Promise<Values>((resolve, reject) => open.set(index, { resolve, reject, signal }));
  };
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  const answer = async (key: string, size?: number) => {
    open.get(`${key}:`)?.resolve(values(size));
    await settle();
  };
  const fail = async (key: string) => {
    open.get(`${key}:`)?.reject(new Error("no"));
    await settle();
  };
  return { asked, open, load, answer, fail };
}

describe("blocks", () => {
  it("are asked for in the order of the wishes, a few at a time, once each", async () => {
    const { asked, load, answer } = loader();
    const store = new BlockStore(load);
    store.want(blocks("a", "b", "c", "d", "e", "f"));
    expect(asked).toEqual(["a:", "b:", "c:", "d:"]);
    store.want(blocks("a", "b", "c", "d", "e", "f"));
    expect(asked).toHaveLength(4);
    await answer("b");
    expect(asked).toEqual(["a:", "b:", "c:", "d:", "e:"]);
    expect(store.get("b")).toBeDefined();
    expect(store.get("a")).toBeUndefined();
    store.want(blocks("b"));
    expect(asked).toHaveLength(5); // it is here
  });

  it("tell whoever listens when one has come", async () => {
    const { load, answer } = loader();
    const store = new BlockStore(load);
    let told = 0;
    const stop = store.subscribe(() => told++);
    store.want(blocks("a", "b"));
    const before = store.getVersion();
    await answer("a");
    expect(told).toBe(1);
    expect(store.getVersion()).toBeGreaterThan(before);
    stop();
    await answer("b");
    expect(told).toBe(1);
  });

  it("that nobody wants any more are given up", async () => {
    const { open, load, answer } = loader();
    const store = new BlockStore(load);
    store.want(blocks("a", "b"));
    store.want(blocks("b", "c"));
    expect(open.get("a:")?.signal.aborted).toBe(true);
    expect(open.get("b:")?.signal.aborted).toBe(false);
    await answer("a"); // late, and not taken
    expect(store.get("a")).toBeUndefined();
    await answer("c");
    expect(store.get("c")).toBeDefined();
  });

  it("stay within bounds: the longest unused one goes, never one that is in sight", async () => {
    const { load, answer } = loader();
    const store = new BlockStore(load, 250);
    for (const key of ["a", "b"]) {
      store.want(blocks(key));
      await answer(key);
    }
    store.want(blocks("a", "c")); // uses a
    await answer("c");
    expect([store.get("a"), store.get("b"), store.get("c")].map(Boolean)).toEqual([true, false, true]);
    store.want(blocks("a", "c", "d"));
    await answer("d");
    expect(["a", "c", "d"].map((key) => Boolean(store.get(key)))).toEqual([true, true, true]);
  });

  it("stop at an error until someone tries again", async () => {
    const { asked, load, fail, answer } = loader();
    const store = new BlockStore(load);
    store.want(blocks("a", "b"));
    await fail("a");
    expect(store.error?.message).toBe("no");
    store.want(blocks("a", "b", "c"));
    expect(asked).toEqual(["a:", "b:"]);
    store.retry();
    expect(store.error).toBeNull();
    expect(asked).toEqual(["a:", "b:", "a:", "c:"]);
    await answer("a");
    expect(store.get("a")).toBeDefined();
  });

  it("for copying are taken from here where they are, else asked for and not kept", async () => {
    const { asked, load, answer } = loader();
    const store = new BlockStore(load);
    store.want(blocks("a"));
    await answer("a");
    const all = store.all(blocks("a", "b"), new AbortController().signal);
    await answer("b");
    expect([...(await all).keys()]).toEqual(["a", "b"]);
    expect(asked).toEqual(["a:", "b:"]);
    expect(store.get("b")).toBeUndefined();
  });
});
