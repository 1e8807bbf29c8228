/** How tensors are shown: kept from one tensor to the next. */

import { create } from "zustand";
import { AUTO, type NumberFormat } from "./cells";

export type Mode = "table" | "heatmap" | "histogram";

interface Shape {
  mode: Mode;
  format: NumberFormat;
  set(change: Partial<Omit<Shape, "set">>): void;
}

export const useLook = create<Shape>((set) => ({ mode: "table", format: AUTO, set: (change) => set(change) }));
