/** The dictionaries and the choice between them. `useText()` gives the texts, typed: a missing key does not compile. */

import { create } from "zustand";
import { graphEn, graphZh } from "../graph/text";
import { lineageEn, lineageZh } from "../lineage/text";
import { guideEn, guideZh } from "../tensor/guide/text";
import { tensorEn, tensorZh } from "../tensor/text";
import { viewsEn, viewsZh } from "../tensor/viewsText";
import { watchEn, watchZh } from "../watch/text";
import { en as pageEn } from "./en";
import { type Texts as PageTexts, zh as pageZh } from "./zh";

export type Language = "zh" | "en";
export type Texts = PageTexts & {
  canvas: typeof graphZh;
  guide: typeof guideZh;
  lineage: typeof lineageZh;
  tensor: typeof tensorZh;
  views: typeof viewsZh;
  watch: typeof watchZh;
};

const en: Texts = { ...pageEn, canvas: graphEn, guide: guideEn, lineage: lineageEn, tensor: tensorEn, views: viewsEn, watch: watchEn };
const zh: Texts = { ...pageZh, canvas: graphZh, guide: guideZh, lineage: lineageZh, tensor: tensorZh, views: viewsZh, watch: watchZh };
export const dictionaries: Record<Language, Texts> = { en, zh };

const KEPT = "stepscope-language";

/** The language that was chosen last; before that, the browser's. */
function initial(): Language {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEPT);
  } catch {
    // a browser that keeps nothing
  }
  if (kept === "zh" || kept === "en") return kept;
  return (globalThis.navigator?.language ?? "en").toLowerCase().startsWith("zh") ? "zh" : "en";
}

interface LanguageState {
  language: Language;
  setLanguage(language: Language): void;
}

export const useLanguage = create<LanguageState>((set) => ({
  language: initial(),
  setLanguage(language) {
    try {
      localStorage.setItem(KEPT, language);
    } catch {
      // chosen for this page only
    }
    set({ language });
  },
}));

export function useText(): Texts {
  return dictionaries[useLanguage((state) => state.language)];
}
