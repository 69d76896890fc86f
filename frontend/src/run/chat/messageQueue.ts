// A message that waits until the answer before it has ended.
import type { Picture } from "../../types/api.ts";

/**
 * Why messages cannot be sent now. `token`: the server wants one. `loading`: the list of models is on its way.
 * `no-models`: it did not come. `deleted`: the server does not have their conversation any more.
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
  /** It is another version of a question, and follows what that one follows: a part by its key or id; null: nothing. */
  parent?: string | null;
  /** It is no message of its own: this question, by its key or id, is to be answered again. */
  again?: string;
}

/** How it is named in a line; a message without words: "2 images". */
export function queuedWords({ text, pictures, again }: Queued): string {
  const words = text.trim() || (pictures.length === 1 ? "1 image" : `${pictures.length} images`);
  return again === undefined ? words : `Regenerate: ${words}`;
}
