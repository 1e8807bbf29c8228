/**
 * Tensors as they come: bytes, little-endian, C order, described by the header X-Stepscope-Tensor.
 *
 * Values become text only where they are shown, so that 64-bit integers stay exact and NaN stays NaN.
 */

import { queryOptions } from "@tanstack/react-query";
import { takeBytes } from "./bytes";
import { ApiError, type Schemas } from "./client";
import { tensorAddress, type TensorPlace } from "./queries";

/** What values are: floats, integers (of 64 bits as bigint), truths, or complex numbers. */
export type Kind = "real" | "whole" | "bool" | "complex";

export interface Values {
  dtype: string;
  kind: Kind;
  /** Digits of a float that mean something to a reader. */
  digits: number;
  shape: number[];
  fullShape: number[];
  step: number;
  length: number;
  /** In memory, in bytes. */
  size: number;
  /** The value at a place in C order; of a complex number the real part, of a truth 0 or 1. */
  get(at: number): number | bigint;
  /** Of a complex number; else 0. */
  imaginary(at: number): number;
}

/** A half-precision float, from its bits. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

type Get = (at: number) => number | bigint;

function reader(dtype: string, bytes: ArrayBuffer): { get: Get; size: number } | null {
  const data = new DataView(bytes);
  switch (dtype) {
    case "float16":
      return { size: 2, get: (at) => half(data.getUint16(2 * at, true)) };
    case "float32":
      return { size: 4, get: (at) => data.getFloat32(4 * at, true) };
    case "float64":
      return { size: 8, get: (at) => data.getFloat64(8 * at, true) };
    case "int8":
      return { size: 1, get: (at) => data.getInt8(at) };
    case "uint8":
    case "bool":
      return { size: 1, get: (at) => data.getUint8(at) };
    case "int16":
      return { size: 2, get: (at) => data.getInt16(2 * at, true) };
    case "uint16":
      return { size: 2, get: (at) => data.getUint16(2 * at, true) };
    case "int32":
      return { size: 4, get: (at) => data.getInt32(4 * at, true) };
    case "uint32":
      return { size: 4, get: (at) => data.getUint32(4 * at, true) };
    case "int64":
      return { size: 8, get: (at) => data.getBigInt64(8 * at, true) };
    case "uint64":
      return { size: 8, get: (at) => data.getBigUint64(8 * at, true) };
    default:
      return null;
  }
}

export function decode(header: Schemas["TensorHeader"], bytes: ArrayBuffer): Values {
  const stored = header.storage_dtype;
  const complex = stored === "complex64" ? "float32" : stored === "complex128" ? "float64" : null;
  const found = reader(complex ?? stored, bytes);
  if (!found) throw new ApiError(`values of type ${stored} can't be shown`, "internal", 0, [], null, "unknown_type");
  const { get, size } = found;
  return {
    dtype: header.dtype,
    kind: complex ? "complex" : stored === "bool" ? "bool" : stored.includes("int") ? "whole" : "real",
    // 32-bit floats have 9 digits at most that mean anything
    digits: stored === "float64" || stored === "complex128" ? 12 : 8,
    shape: header.shape,
    fullShape: header.full_shape,
    step: header.step,
    length: bytes.byteLength / (complex ? 2 * size : size),
    size: bytes.byteLength,
    get: complex ? (at) => get(2 * at) : get,
    imaginary: complex ? (at) => Number(get(2 * at + 1)) : () => 0,
  };
}

/** The values at an address; throws ApiError. */
export async function fetchValues(address: string, signal: AbortSignal): Promise<Values> {
  const { header, bytes } = await takeBytes<Schemas["TensorHeader"]>(address, "X-Stepscope-Tensor", signal);
  return decode(header, bytes);
}

/** The values of a tensor, or of the part that `index` selects; only what is shown should be asked for. */
export function valuesQuery(place: TensorPlace, moment: string, when: "current" | "previous", index: string) {
  return queryOptions({
    queryKey: ["values", place, moment, when, index],
    queryFn: ({ signal }) => fetchValues(tensorAddress(place, when, index), signal),
    staleTime: Infinity,
    gcTime: 30_000,
  });
}
