// The message in the box: its draft, its images, and whether it can be sent.
import { drafts, useDraft } from "../state/drafts.ts";
import type { PictureRule } from "../state/pictureTypes.ts";
import type { Picture } from "../types/api.ts";
import { useAttachImages } from "./attachImages.ts";
import { type FillVariables, useFillVariables } from "./fillVariables.ts";

export interface ComposedMessage {
  text: string;
  pictures: readonly Picture[];
  isEmpty: boolean;
  /** The message is empty, its images are being read, or the model cannot read them. */
  cannotSend: boolean;
  /** A notice about the images. Empty if there is none. */
  notice: string;
  filling: FillVariables;
  send: () => void;
  addFiles: (files: readonly File[]) => void;
  removePicture: (id: string) => void;
  setNotice: (notice: string) => void;
}

/** `onSend` is called once every variable has a value. */
export function useComposedMessage(
  draftKey: string,
  rule: PictureRule,
  onSend: (text: string, pictures: readonly Picture[]) => void,
): ComposedMessage {
  const { text, pictures } = useDraft(draftKey);
  const { add, notice, setNotice, reading } = useAttachImages(draftKey, rule);
  const isEmpty = !text.trim() && pictures.length === 0;
  const refusal =
    pictures.length > 0 && !rule.allowed ? `${rule.reason} Remove the images or choose another model.` : undefined;
  const cannotSend = isEmpty || reading || refusal !== undefined;
  const filling = useFillVariables((filled) => {
    drafts.clear(draftKey);
    setNotice("");
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
      setNotice("");
    },
    setNotice,
  };
}
