import type { Plugin } from "vite";

/** Tells the browser at once of the page's own code, which the small start would ask for later. */
export function preload(main: string): Plugin {
  return {
    name: "preload",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const chunks = Object.values(bundle ?? {}).filter((each) => each.type === "chunk");
        const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(main)));
        if (!chunk) throw new Error(`no chunk is made of ${main}`);
        const styles = chunk.viteMetadata?.importedCss ?? new Set<string>();
        const link = (rel: string, file: string) => ({
          tag: "link",
          attrs: { rel, crossorigin: true, href: `/${file}` },
          injectTo: "head" as const,
        });
        return [
          ...[chunk.fileName, ...chunk.imports].map((file) => link("modulepreload", file)),
          ...[...styles].map((file) => link("stylesheet", file)),
        ];
      },
    },
  };
}
