// The chat's transport, its types, and where the page keeps it between two visits.
import { DefaultChatTransport, type UIMessage } from "ai";

const API = "/api/ai/chat";

/** The facts about one run of an answer; `cost` is in USD. */
export interface Run {
  status?: "complete" | "cancelled" | "interrupted" | "error" | "length" | "content_filter";
  model?: string;
  cost?: number;
}

/** A message of Signalbox: its metadata has the runs by id, and warnings are data parts. */
export type ChatMessage = UIMessage<{ runs: Record<string, Run> }, { warning: { message: string; code?: string } }>;

/** The tool that this page executes itself. */
const clientTools = [
  {
    name: "set_theme",
    description: "Make the page dark or light.",
    inputSchema: { type: "object", properties: { theme: { enum: ["dark", "light"] } }, required: ["theme"] },
  },
];

/** `?model=…` in the address chooses another model. */
const model = new URLSearchParams(location.search).get("model") ?? "openai/sim";

export const transport = new DefaultChatTransport<ChatMessage>({
  api: API,
  body: { model, reasoning_effort: "low", tools: ["calculate", "search_web"], clientTools },
  // Also gets the end of an answer that was completed while the page was away.
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `${pathOf(id)}/stream?finished=true` }),
});

function pathOf(id: string): string {
  return `${API}/${encodeURIComponent(id)}`;
}

/** Stop the answer: closing the connection would only stop reading it. */
export async function stopAnswer(id: string): Promise<void> {
  await fetch(`${pathOf(id)}/stop`, { method: "POST" });
}

/** Return the chat that the address names; begin one if it names none. */
export function chatId(): string {
  if (!location.hash) location.hash = crypto.randomUUID();
  return location.hash.slice(1);
}

export function storedMessages(id: string): ChatMessage[] {
  return JSON.parse(localStorage.getItem(id) ?? "[]") as ChatMessage[];
}

export function storeMessages(id: string, messages: ChatMessage[]): void {
  localStorage.setItem(id, JSON.stringify(messages));
}
