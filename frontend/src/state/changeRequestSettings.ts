// Changes the request settings, from the settings panel or from an earlier run.
import type { RequestSettings } from "../types/api.ts";
import type { Chat } from "./chat/chat.ts";
import type { Settings } from "./settings.ts";

/** The system prompt belongs to the chat. In an empty chat, it also becomes the default for new chats. */
export function changeRequestSettings(settings: Settings, chat: Chat, patch: Partial<RequestSettings>): void {
  const { system, ...rest } = patch;
  if (system !== undefined) chat.setSystem(system);
  settings.changeAsk(system !== undefined && chat.isEmpty ? patch : rest);
}
