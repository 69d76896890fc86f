// A message that waits until the answer before it has ended.
import type { Picture } from "../types/api.ts";

export interface Queued {
  id: string;
  text: string;
  pictures: readonly Picture[];
}

/** How a message without words is named in a line: "2 pictures". */
export const queuedWords = ({ text, pictures }: Queued): string =>
  text.trim() || (pictures.length === 1 ? "1 picture" : `${pictures.length} pictures`);
