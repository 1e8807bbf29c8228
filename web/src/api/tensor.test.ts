import { describe, expect, it } from "vitest";
import type { Schemas } from "./client";
import { valueText } from "../tensor/cells";
import { decode, half } from "./tensor";

function values(dtype: string, bytes: ArrayBuffer) {
  const header = { dtype, storage_dtype: dtype, shape: [], full_shape: [], step: 3 } as unknown as Schemas["TensorHeader"];
  return decode(header, bytes);
}

const texts = (dtype: string, array: { buffer: ArrayBuffer | SharedArrayBuffer }) => {
  const made = values(dtype, array.buffer as ArrayBuffer);
  return Array.from({ length: made.length }, (_, at) => valueText(made, at));
};

describe("half precision", () => {
  it.each([
    [0x0000, 0],
    [0x8000, -0],
    [0x3c00, 1],
    [0xc000, -2],
    [0x3555, 0.333251953125],
    [0x7bff, 65504], // the largest
    [0x0400, 2 ** -14], // the smallest that is normal
    [0x0001, 2 ** -24], // the smallest of all
    [0x03ff, (2 ** -14 * 1023) / 1024],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
    [0x7e00, NaN],
    [0x7c01, NaN],
  ])("%i is %f", (bits, value) => {
    expect(half(bits)).toBe(value);
  });

  it("agrees with the engine's own floats for all numbers", () => {
    const values = Array.from({ length: 0x7c00 }, (_, bits) => half(bits));
    expect(Array.from(new Float32Array(values))).toEqual(values); // each is a float32, too
    expect(values.findIndex((value, bits) => bits > 0 && !(value > (values[bits - 1] as number)))).toBe(-1);
  });

  it("is read little-endian", () => {
    expect(texts("float16", new Uint8Array([0x00, 0x3c, 0x00, 0x7e]))).toEqual(["1", "NaN"]);
  });
});

describe("integers", () => {
  it("are exact beyond 2^53", () => {
    const wanted = [2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 53n) - 1n, 0n];
    expect(texts("int64", new BigInt64Array(wanted))).toEqual(wanted.map(String));
    const unsigned = [2n ** 64n - 1n, 2n ** 53n + 1n];
    expect(texts("uint64", new BigUint64Array(unsigned))).toEqual(["18446744073709551615", "9007199254740993"]);
  });

  it("have all their digits", () => {
    expect(texts("int32", new Int32Array([-2147483648, 2147483647, 1234567890]))).toEqual(["-2147483648", "2147483647", "1234567890"]);
    expect(texts("uint32", new Uint32Array([4294967295]))).toEqual(["4294967295"]);
    expect(texts("int16", new Int16Array([-32768]))).toEqual(["-32768"]);
    expect(texts("uint16", new Uint16Array([65535]))).toEqual(["65535"]);
    expect(texts("int8", new Int8Array([-128]))).toEqual(["-128"]);
    expect(texts("uint8", new Uint8Array([255]))).toEqual(["255"]);
  });
});

describe("other values", () => {
  it("are shown with the digits that mean something", () => {
    expect(texts("float32", new Float32Array([0.1, 16777216, NaN, -Infinity]))).toEqual(["0.1", "16777216", "NaN", "-Inf"]);
    expect(texts("float64", new Float64Array([0.1, 1 / 3]))).toEqual(["0.1", "0.333333333333"]);
  });
  it("may be truths and complex numbers", () => {
    expect(texts("bool", new Uint8Array([0, 1]))).toEqual(["False", "True"]);
    expect(texts("complex64", new Float32Array([1, -2, 0.5, 0]))).toEqual(["1-2i", "0.5+0i"]);
  });
  it("of an unknown type are an error, not garbage", () => {
    expect(() => values("string", new ArrayBuffer(8))).toThrow("string");
  });
});
