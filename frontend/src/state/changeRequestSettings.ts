// Changing how questions are asked, from the settings or from a run of before.
import type { AskSettings } from "../types/api.ts";
import type { Chat } from "./chat/chat.ts";
import type { Settings } from "./settings.ts";

/** A system prompt belongs to the chat; while nothing was asked in it, new chats begin with it as well. */
export function changeAsk(settings: Settings, chat: Chat, patch: Partial<AskSettings>): void {
  const { system, ...rest } = patch;
  if (system !== undefined) chat.setSystem(system);
  settings.changeAsk(system !== undefined && chat.isEmpty ? patch : rest);
}
