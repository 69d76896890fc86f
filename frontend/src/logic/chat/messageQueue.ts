// Messages that are queued until they can be sent.
import type { Picture } from "../../types/api.ts";

/**
 * Why messages cannot be sent now. `token`: the server requires one. `loading`: the model list is loading. `no-models`:
 * it failed to load. `deleted`: the conversation no longer exists.
 */
export type Hold = "offline" | "token" | "loading" | "no-models" | "deleted";

export const HOLD_WORDS: Record<Hold, string> = {
  offline: "You're offline. Your message will be sent when you're back online.",
  token: "Enter the access token to send your message.",
  loading: "Loading the models. Your message will be sent when they are loaded.",
  "no-models": "The models couldn't be loaded. Try again, or choose a model to send your message.",
  deleted: "This conversation no longer exists. Start a new chat to send your message.",
};

export interface Queued {
  id: string;
  text: string;
  pictures: readonly Picture[];
  /** For an edited message: the key or id of the part that it follows, or null at the root. */
  parent?: string | null;
  /** For a regeneration: the key or id of the message that is answered again. */
  again?: string;
}

/** The message's label in the queue. Without text: "2 images". */
export function queuedText({ text, pictures, again }: Queued): string {
  const words = text.trim() || (pictures.length === 1 ? "1 image" : `${pictures.length} images`);
  return again === undefined ? words : `Regenerate: ${words}`;
}
