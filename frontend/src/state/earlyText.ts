// What was written into the drawing of the page (src/shell.tsx) before its scripts ran.
import { readAddress } from "./address.ts";
import { drafts } from "./drafts.ts";

/**
 * Make it a part of the draft of the chat that opens. Call the result once the page is drawn: the caret then stands where it
 * stood in the drawing, and a message whose last key was Enter is sent.
 */
export function takeEarlyText(): () => void {
  const boxes = [...document.querySelectorAll<HTMLTextAreaElement>("[data-shell] textarea")];
  const typed = boxes.map(({ value }) => value).find(Boolean);
  const box = boxes.find((one) => one === document.activeElement);
  const fromEnd = box ? box.value.length - box.selectionEnd : 0;
  // Who went on writing after Enter has not finished, and a draft of the last visit is not sent unseen.
  let sends = typed !== undefined && boxes.some(({ dataset, value }) => value === typed && dataset.entered === typed);
  if (typed) {
    const address = readAddress(location.hash);
    const key = address.kind === "conversation" ? address.id : "new";
    drafts.change(key, ({ text, pictures }) => {
      sends &&= !text && pictures.length === 0;
      return { text: [text, typed].filter(Boolean).join("\n\n") };
    });
  }
  return () => {
    const now = document.querySelector<HTMLTextAreaElement>("[data-part=composer] textarea");
    if (now && box) {
      now.focus();
      const caret = Math.max(0, now.value.length - fromEnd);
      now.setSelectionRange(caret, caret);
    }
    if (sends) now?.form?.requestSubmit();
  };
}
