// What the page shows of one conversation.

import type { ChatCost } from "../../run/chat/chatCost.ts";
import type { Hold, Queued } from "../../run/chat/messageQueue.ts";
import type { ChatPart, Entry } from "./chatParts.ts";

export interface ChatState {
  title: string;
  /** `new`: nothing was asked yet. */
  status: "new" | "loading" | "ready" | "failed";
  /** Why it cannot be shown, or what could not be done; a sentence. */
  trouble: string | undefined;
  parts: ReadonlyMap<string, ChatPart>;
  leaf: string | null;
  /** What is shown. */
  entries: readonly Entry[];
  /** An answer at the end of what is shown is under way. */
  running: boolean;
  /** Instructions that the reader has set here for what is asked next; undefined: those that hold. */
  system: string | undefined;
  queue: readonly Queued[];
  /** The queue waits for the reader: the answer before it failed or was stopped, or the page was loaded anew. */
  held: boolean;
  /** Why no message can be sent now. */
  hold: Hold | undefined;
  /** What the server would not have, given back to the reader. */
  returned: Pick<Queued, "text" | "pictures"> | undefined;
  /** Of all its answers, on all branches; undefined where none is known. */
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

/** The state of a chat, for those that work on it. */
export interface ChatStore {
  read(): ChatState;
  set(change: Partial<ChatState>): void;
  /** Show the newest state now. */
  flush(): void;
}
