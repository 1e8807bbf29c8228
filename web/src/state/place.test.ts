import { describe, expect, it } from "vitest";
import type { JobView } from "../api/client";
import { format, graphShown, newestLive, parse, type Place } from "./place";

const NOWHERE: Place = { job: null, graph: null, selected: null };

describe("addresses", () => {
  it.each<[string, Place]>([
    ["", NOWHERE],
    ["#/", NOWHERE],
    ["#/elsewhere", NOWHERE],
    ["#/job/", NOWHERE],
    ["#/job/a-1", { job: "a-1", graph: null, selected: null }],
    ["#/job/a-1/", { job: "a-1", graph: null, selected: null }],
    ["#/job/a-1?graph=kernel_graph0", { job: "a-1", graph: "kernel_graph0", selected: null }],
    ["#/job/a/node/Default/net/Conv2D-op0", { job: "a", graph: null, selected: { kind: "node", name: "Default/net/Conv2D-op0" } }],
    ["#/job/a/scope/Default?graph=g", { job: "a", graph: "g", selected: { kind: "scope", name: "Default" } }],
    ["#/job/a/tensor/net/Conv2D-op0/1?graph=g", { job: "a", graph: "g", selected: null, tensor: { node: "net/Conv2D-op0", slot: 1 } }],
    ["#/job/a/tensor/net/Add/0?graph=g&input=2", { job: "a", graph: "g", selected: null, tensor: { node: "net/Add", slot: 0, input: 2 } }],
    ["#/job/a/tensor/w", { job: "a", graph: null, selected: null, tensor: { node: "w", slot: 0 } }], // the slot left out
    ["#/job/a/tensor/w/0?input=x", { job: "a", graph: null, selected: null, tensor: { node: "w", slot: 0 } }],
    ["#/job/a/node/50%", { job: "a", graph: null, selected: { kind: "node", name: "50%" } }], // typed by hand
  ])("are read: %s", (hash, place) => expect(parse(hash)).toEqual(place));

  it.each<Place>([
    NOWHERE,
    { job: "a b/c", graph: null, selected: null },
    { job: "a", graph: "g?&#1/2", selected: { kind: "scope", name: "Default/net" } },
    { job: "a", graph: null, selected: { kind: "node", name: "net/what? 100% #1 & more/中文-op0" } },
    { job: "a", graph: "g&1", selected: null, tensor: { node: "net/5", slot: 12 } },
    { job: "a", graph: null, selected: null, tensor: { node: "net/what? 100%", slot: 0, input: 3 } },
  ])("are written so that they are read again: %o", (place) => expect(parse(format(place))).toEqual(place));

  it("keep the slashes of names", () => {
    expect(format({ job: "a", graph: null, selected: { kind: "node", name: "net/a b" } })).toBe("#/job/a/node/net/a%20b");
  });
});

describe("what is shown where nothing is said", () => {
  const job = (more: Partial<JobView>) => ({ id: "a", connected: true, graphs: ["g0", "g1"], cursor: null, ...more }) as JobView;

  it("is the newest training that is connected", () => {
    expect(newestLive([job({ id: "a" }), job({ id: "b" }), job({ id: "c", connected: false })])?.id).toBe("b");
    expect(newestLive([])).toBeUndefined();
  });

  it("is the graph of the address, of the cursor, or the first", () => {
    const cursor = { graph: "g1", node: "n", position: 1, count: 2 } as JobView["cursor"];
    expect(graphShown(job({}), "g1")).toBe("g1");
    expect(graphShown(job({ cursor }), "gone")).toBe("g1");
    expect(graphShown(job({}), null)).toBe("g0");
    expect(graphShown(job({ graphs: [] }), null)).toBeNull();
  });
});
