// The requests of the page besides those that assistant-ui sends, and the state of a thread.
import type { LangChainMessage } from "@assistant-ui/react-langgraph";

/** The state that Signalbox streams. */
export interface State {
  threadId: string | null;
  messages: LangChainMessage[];
  warnings?: { message: string; code?: string }[];
  run?: { id?: string; status?: string };
}

/** What Signalbox tells about a message, in assistant-ui's `metadata.custom`. */
export interface Facts {
  /** The ids of the versions of this message, if there are several. */
  versions?: string[];
  run?: { id: string; status?: string; cost?: number };
  sources?: { n: number; url: string; title: string }[];
}

/** The body of every request. `?model=…` in the address chooses another model. */
export const REQUEST = {
  threadId: threadOfAddress(),
  model: new URLSearchParams(location.search).get("model") ?? "openai/sim",
  system: "You are a shopping assistant. Search for products before you recommend any. Be brief.",
  config: { reasoningEffort: "low", tools: ["search_products", "search_web", "calculate"] },
  // The answer goes on if the page is reloaded, so Stop needs a request: see stopRun.
  onDisconnect: "continue",
};

export const THREAD = `threadId=${encodeURIComponent(REQUEST.threadId)}`;

/** Return the thread that the address names; begin one if it names none. */
function threadOfAddress(): string {
  if (!location.hash) history.replaceState(null, "", `#${crypto.randomUUID()}`);
  return location.hash.slice(1);
}

/** Load the stored thread. If an answer is running, the state ends before it, and `run` names it. */
export async function loadState(): Promise<State> {
  const response = await fetch(`/assistant/state?${THREAD}`);
  if (!response.ok) throw new Error(sentenceOf(await response.text()));
  return (await response.json()) as State;
}

/** Stop a run, or without its id the one that is running in the thread. */
export async function stopRun(runId: string | undefined): Promise<void> {
  const id = runId ?? (await runningRun());
  if (id) await fetch(`/api/runs/${id}/stop`, { method: "POST" });
}

/** The request may still be on its way to the server, so this asks a few times. */
async function runningRun(): Promise<string | undefined> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const response = await fetch(`/assistant/resume-state?${THREAD}`, { method: "POST", body: "{}" });
    if (response.status === 200) return ((await response.json()) as { runId: string }).runId;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return undefined;
}

/** The sentence in the body of an error, or the text itself. */
export function sentenceOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: string | { message: string } };
    return typeof error === "string" ? error : error.message;
  } catch {
    return text.startsWith("<") || !text ? "Signalbox cannot be reached. Start it, then reload the page." : text;
  }
}
