/** The page itself. */

import { createRoot } from "react-dom/client";
import { App } from "./app/App";

const show = () => createRoot(document.getElementById("root") as HTMLElement).render(<App />);

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", show);
else show();
