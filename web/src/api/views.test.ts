import { describe, expect, it } from "vitest";
import { decodeHeatmap, npyAddress } from "./views";

describe("a heat map", () => {
  it("comes as the cells' values and their flags", () => {
    const values = Float32Array.of(0.5, NaN, -2, 3, 4, 5);
    const bytes = new Uint8Array(values.byteLength + 6);
    bytes.set(new Uint8Array(values.buffer));
    bytes.set([0, 1, 0, 2, 4, 0], values.byteLength);
    const header = { dtype: "float16", step: 3, shape: [20, 30], rows: 2, columns: 3, low: -2, high: 5 };
    const heatmap = decodeHeatmap(header, bytes.buffer);
    expect([...heatmap.values]).toEqual([...values]);
    expect([...heatmap.flags]).toEqual([0, 1, 0, 2, 4, 0]);
    expect(heatmap).toMatchObject({ shape: [20, 30], low: -2, step: 3 });
  });
});

describe("the address of a file", () => {
  const place = { job: "a b", graph: "g&1", node: "Default/conv:0", slot: 1 };

  it("names tensor, step and part", () => {
    expect(npyAddress(place, "previous", "0, ::2")).toBe(
      "/api/jobs/a%20b/tensor.npy?node=Default%2Fconv%3A0&graph=g%261&slot=1&when=previous&index=0%2C+%3A%3A2",
    );
  });

  it("leaves out the part where it is all", () => {
    expect(npyAddress({ ...place, input: 2 }, "current", "")).toBe(
      "/api/jobs/a%20b/tensor.npy?node=Default%2Fconv%3A0&graph=g%261&slot=1&input=2&when=current",
    );
  });
});
