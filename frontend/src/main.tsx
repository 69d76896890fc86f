// Starts the chat.
import { App, preloadAnswers } from "./App.tsx";
import { readAddress } from "./hooks/address.ts";
import { takeEarlyText } from "./hooks/early.ts";
import { start } from "./start.tsx";

// A chat that is opened by its address is drawn as soon as the server has sent it.
if (readAddress(location.hash).kind === "conversation") preloadAnswers();

const placeCaret = takeEarlyText();
start(<App />);
placeCaret();
