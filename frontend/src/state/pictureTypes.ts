// Which images can be sent, and which files are pasted.

/** Whether the model can read images, and why not. */
export type PictureRule = { allowed: true } | { allowed: false; reason: string };

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Pasted image files. None if text comes with them: spreadsheets paste both. */
export function pastedFiles(data: DataTransfer): readonly File[] {
  const words = data.types.includes("text/plain") && data.types.includes("text/html");
  return words ? [] : [...data.files];
}
