// Starts the chat.
import { App } from "./App.tsx";
import { start } from "./start.tsx";

start(<App />);
