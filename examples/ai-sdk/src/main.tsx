import { createRoot } from "react-dom/client";
import { App } from "./App";
import { chatId } from "./chat";
import "./style.css";

const root = document.getElementById("root");
if (root) createRoot(root).render(<App key={chatId()} id={chatId()} />);
