import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

interface Locked {
  dev?: boolean;
  license?: string;
  version?: string;
}

/** Puts the licences of everything that ends up in the page beside it, as those licences ask for. */
export function licenses(): Plugin {
  return {
    name: "licenses",
    apply: "build",
    generateBundle() {
      const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, Locked> };
      const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path && !dev && existsSync(path));
      const texts = shipped.map(([path, { version, license }]) => {
        const files = readdirSync(path).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
        const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
        return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(`${path}/${file}`, "utf8"))].join("\n\n");
      });
      this.emitFile({ type: "asset", fileName: "licenses.txt", source: texts.join(`\n\n${"-".repeat(100)}\n\n`) });
    },
  };
}
