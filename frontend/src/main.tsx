// Starts the chat.
import { App, preloadAnswers } from "./App.tsx";
import { start } from "./start.tsx";
import { readAddress } from "./state/address.ts";
import { takeEarlyText } from "./state/earlyText.ts";

// If the address names a conversation, load what renders answers at once.
if (readAddress(location.hash).kind === "conversation") preloadAnswers();

const placeCaret = takeEarlyText();
start(<App />);
placeCaret();
