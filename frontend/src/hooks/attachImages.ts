// Adds images to a draft, and reports files that cannot be added.
import { useEffect, useEffectEvent, useState } from "react";
import { type Drafts, drafts } from "../state/drafts.ts";
import type { Graphics } from "../state/pictures.ts";
import type { PictureRule } from "../state/pictureTypes.ts";
import { retried } from "../state/retriedLoad.ts";

export const loadPictures = () => retried(() => import("../state/pictures.ts"));

export interface AttachImages {
  /** Read these files into the draft. Resolves when all are read. */
  add: (files: readonly File[]) => Promise<void>;
  /** The files that could not be added, with reasons. */
  notice: string;
  setNotice: (notice: string) => void;
  /** Images are being read. */
  reading: boolean;
}

export function useAttachImages(
  key: string,
  rule: PictureRule,
  of: Drafts = drafts,
  graphics?: Graphics,
): AttachImages {
  // The notice belongs to the draft that the files were added to. The user may have switched chats in the meantime.
  const [last, setLast] = useState({ key, notice: "" });
  const [readings, setReadings] = useState<readonly string[]>([]);
  const setNotice = (notice: string) => setLast({ key, notice });

  const add = async (files: readonly File[]) => {
    if (files.length === 0) return;
    if (!rule.allowed) return setNotice(rule.reason);
    setNotice("");
    setReadings((before) => [...before, key]);
    try {
      const { readPictures } = await loadPictures();
      const { pictures, troubles } = await readPictures(files, of.get(key).pictures, graphics);
      if (pictures.length > 0) of.change(key, (draft) => ({ pictures: [...draft.pictures, ...pictures] }));
      setNotice(troubles.join(" "));
    } finally {
      setReadings((before) => before.toSpliced(before.indexOf(key), 1));
    }
  };

  return { add, notice: last.key === key ? last.notice : "", setNotice, reading: readings.includes(key) };
}

/** Handle files that are dropped anywhere on the page. Returns whether files are dragged over it. */
export function useFileDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const drop = useEffectEvent(onFiles);

  useEffect(() => {
    const ends = new AbortController();
    const listen = (type: "dragover" | "dragleave" | "drop", act: (event: DragEvent, data: DataTransfer) => void) =>
      window.addEventListener(
        type,
        (event) => event.dataTransfer?.types.includes("Files") && act(event, event.dataTransfer),
        { signal: ends.signal },
      );
    listen("dragover", (event, data) => {
      // By default the browser would leave the page and open the file.
      event.preventDefault();
      data.dropEffect = "copy";
      setOver(true);
    });
    listen("dragleave", (event) => event.relatedTarget === null && setOver(false));
    listen("drop", (event, data) => {
      event.preventDefault();
      setOver(false);
      drop([...data.files]);
    });
    return () => ends.abort();
  }, []);
  return over;
}
