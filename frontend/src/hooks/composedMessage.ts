// The message in the box: its draft, the images that are added to it, whether it can be sent, and how it is.
import { drafts, useDraft } from "../state/drafts.ts";
import type { PictureRule } from "../state/pictures.ts";
import type { Picture } from "../types/api.ts";
import { useAttach } from "./attachImages.ts";
import { type Filling, useFilling } from "./fillVariables.ts";

export interface ComposedMessage {
  text: string;
  pictures: readonly Picture[];
  isEmpty: boolean;
  /** It is empty, its images are being read, or the model cannot read them. */
  cannotSend: boolean;
  /** What the reader should know of its images; empty: nothing. */
  notice: string;
  filling: Filling;
  send: () => void;
  addFiles: (files: readonly File[]) => void;
  removePicture: (id: string) => void;
  say: (notice: string) => void;
}

/** `onSend` is called when every variable of the text is filled in. */
export function useComposedMessage(
  draftKey: string,
  rule: PictureRule,
  onSend: (text: string, pictures: readonly Picture[]) => void,
): ComposedMessage {
  const { text, pictures } = useDraft(draftKey);
  const { add, notice, say, reading } = useAttach(draftKey, rule);
  const isEmpty = !text.trim() && pictures.length === 0;
  const refusal =
    pictures.length > 0 && !rule.allowed ? `${rule.reason} Remove the images or choose another model.` : undefined;
  const cannotSend = isEmpty || reading || refusal !== undefined;
  const filling = useFilling((filled) => {
    drafts.clear(draftKey);
    say("");
    onSend(filled, pictures);
  });
  return {
    text,
    pictures,
    isEmpty,
    cannotSend,
    notice: refusal ?? (reading ? "Reading the images…" : notice),
    filling,
    send: () => {
      if (!cannotSend) filling.submit(text.trim());
    },
    addFiles: (files) => void add(files),
    removePicture: (id) => {
      drafts.change(draftKey, (draft) => ({ pictures: draft.pictures.filter((one) => one.id !== id) }));
      say("");
    },
    say,
  };
}
