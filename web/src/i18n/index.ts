/** The dictionaries and the choice between them. `useText()` gives the texts, typed: a missing key does not compile. */

import { create } from "zustand";
import { graphEn, graphZh } from "../graph/text";
import { tensorEn, tensorZh } from "../tensor/text";
import { watchEn, watchZh } from "../watch/text";
import { en as pageEn } from "./en";
import { type Texts as PageTexts, zh as pageZh } from "./zh";

export type Language = "zh" | "en";
export type Texts = PageTexts & { canvas: typeof graphZh; watch: typeof watchZh; tensor: typeof tensorZh };

const en: Texts = { ...pageEn, canvas: graphEn, watch: watchEn, tensor: tensorEn };
const zh: Texts = { ...pageZh, canvas: graphZh, watch: watchZh, tensor: tensorZh };
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
