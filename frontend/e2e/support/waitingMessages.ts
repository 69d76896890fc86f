// Messages that wait to be sent, and what the server received of them.
import type { Page } from "./page.ts";

export const OFFLINE = "You're offline. Your message will be sent when you're back online.";

export const queue = (page: Page) => page.getByRole("region", { name: "Queued messages" });
export const questions = (page: Page) => page.locator("[data-part=question]");

/** All further messages over all tabs: text, key, model and conversation. */
export function posts(page: Page): { text: string; key: string; model: string; conversation: string }[] {
  const all: ReturnType<typeof posts> = [];
  page.context().on("request", (request) => {
    if (!request.url().endsWith("/api/chat/stream")) return;
    const body = request.postDataJSON();
    const key = request.headers()["idempotency-key"] ?? "";
    all.push({ text: body.messages?.[0]?.content, key, model: body.model, conversation: body.conversation_id });
  });
  return all;
}

/** The number of runs in a conversation on the server. */
export async function runsIn(page: Page, conversation: string): Promise<number> {
  const { messages } = await (await page.request.get(`/api/conversations/${conversation}`)).json();
  return messages.filter(({ role }: { role: string }) => role === "assistant").length;
}
