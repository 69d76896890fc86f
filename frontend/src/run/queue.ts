// A message that waits until the answer before it has ended.
import type { Picture } from "../types/api.ts";

/**
 * Why messages cannot be sent now. `token`: the server wants one. `loading`: the list of models is on its way.
 * `no-models`: it did not come.
 */
export type Hold = "offline" | "token" | "loading" | "no-models";

export const HOLD_WORDS: Record<Hold, string> = {
  offline: "You're offline. Your message will be sent when you're back online.",
  token: "Enter the access token to send your message.",
  loading: "Loading the models. Your message will be sent when they are loaded.",
  "no-models": "The models couldn't be loaded. Try again, or choose a model to send your message.",
};

export interface Queued {
  id: string;
  text: string;
  pictures: readonly Picture[];
}

/** How a message without words is named in a line: "2 pictures". */
export const queuedWords = ({ text, pictures }: Queued): string =>
  text.trim() || (pictures.length === 1 ? "1 image" : `${pictures.length} images`);
