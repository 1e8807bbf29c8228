/** Sizes of the panels, kept by the browser. */

import { create } from "zustand";
import { persist } from "zustand/middleware";

interface Layout {
  listWidth: number;
  detailsHeight: number;
  watchHeight: number;
  isListOpen: boolean;
  isDetailsOpen: boolean;
  guideWidth: number;
  lineageHeight: number;
  isGuideOpen: boolean;
  isLineageOpen: boolean;
}

export const useLayout = create<Layout & { set(change: Partial<Layout>): void }>()(
  persist(
    (set) => ({
      listWidth: 336,
      detailsHeight: Math.round(Math.min(320, Math.max(200, window.innerHeight * 0.3))),
      watchHeight: Math.round(Math.min(260, Math.max(150, window.innerHeight * 0.21))),
      isListOpen: true,
      isDetailsOpen: true,
      guideWidth: 260,
      lineageHeight: 220,
      isGuideOpen: true,
      isLineageOpen: true,
      set: (change) => set(change),
    }),
    { name: "stepscope-layout" },
  ),
);
