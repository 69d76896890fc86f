import { createRoot } from "react-dom/client";
import { App, Unreachable } from "./App";
import { loadState } from "./signalbox";
import "./style.css";

const root = createRoot(document.getElementById("root") as HTMLElement);
loadState().then(
  (state) => root.render(<App initial={state} />),
  (error: Error) => root.render(<Unreachable reason={error.message} />),
);
// Another thread in the address: the browser's history has moved.
addEventListener("hashchange", () => location.reload());
