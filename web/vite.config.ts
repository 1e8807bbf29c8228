import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { licenses } from "./licenses";
import { preload } from "./preload";

// Development: `stepscope start` in one terminal, `npx vite` in another.
const server = "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react(), licenses(), preload("/src/main.tsx")],
  base: "/",
  worker: { format: "es" },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // nothing as a data: address, which the CSP would have to allow
    chunkSizeWarningLimit: 2000,
  },
  test: { testTimeout: 120_000 }, // a limit for what hangs: how long a test takes says nothing on a busy machine
  server: { proxy: { "/api": { target: server, ws: true, changeOrigin: true, headers: { origin: server } } } },
});
