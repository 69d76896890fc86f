// Starts the chat.
import { App, preloadAnswers } from "./App.tsx";
import { start } from "./start.tsx";
import { readAddress } from "./state/address.ts";
import { takeEarlyText } from "./state/earlyText.ts";

// A chat that is opened by its address is drawn as soon as the server has sent it.
if (readAddress(location.hash).kind === "conversation") preloadAnswers();

const placeCaret = takeEarlyText();
start(<App />);
placeCaret();
