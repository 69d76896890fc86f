// Starts a page: fonts, styles, theme, and React on #root.
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/app.css";
import { type ReactNode, StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { ErrorBoundary } from "./components/ui/ErrorBoundary.tsx";
import { followTheme } from "./state/theme.ts";

export function start(page: ReactNode): void {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no #root");
  followTheme();
  const drawn = createRoot(root);
  // Rendered synchronously: the prerendered page (src/shell.tsx) must be gone when the document has loaded.
  flushSync(() =>
    drawn.render(
      <StrictMode>
        <ErrorBoundary
          fallback={<p className="p-6">Something went wrong on this page. Reload it; your chats are safe.</p>}
        >
          {page}
        </ErrorBoundary>
      </StrictMode>,
    ),
  );
}
