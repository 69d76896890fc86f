// The state of one conversation on the page.

import type { ChatCost } from "../../logic/chat/chatCost.ts";
import type { Hold, Queued } from "../../logic/chat/messageQueue.ts";
import type { ChatPart, Entry } from "./chatParts.ts";

export interface ChatState {
  title: string;
  /** `new`: no message has been sent. */
  status: "new" | "loading" | "ready" | "failed";
  /** Why the conversation could not be loaded, or what failed, as a sentence. */
  trouble: string | undefined;
  parts: ReadonlyMap<string, ChatPart>;
  leaf: string | null;
  /** The rows of the shown branch. */
  entries: readonly Entry[];
  /** The last answer of the shown branch is running. */
  running: boolean;
  /** The system prompt that the user has set for the next message. Undefined: the previous one applies. */
  system: string | undefined;
  queue: readonly Queued[];
  /** The queue is paused: the last answer failed or was stopped, or the page was reloaded. */
  held: boolean;
  /** Why no message can be sent now. */
  hold: Hold | undefined;
  /** A message that the server rejected, to be put back into the message box. */
  returned: Pick<Queued, "text" | "pictures"> | undefined;
  /** The cost of all answers on all branches. Undefined if no cost is known. */
  cost: ChatCost | undefined;
}

export const NEW_CHAT: ChatState = {
  title: "",
  status: "new",
  trouble: undefined,
  parts: new Map(),
  leaf: null,
  entries: [],
  running: false,
  system: undefined,
  queue: [],
  held: false,
  hold: undefined,
  returned: undefined,
  cost: undefined,
};

/** Access to the state, for the parts of `Chat`. */
export interface ChatStore {
  read(): ChatState;
  set(change: Partial<ChatState>): void;
  /** Render the newest state now. */
  flush(): void;
}
