// Takes over the text that was typed into the prerendered page (src/shell.tsx).
import { readAddress } from "./address.ts";
import { drafts } from "./drafts.ts";

/**
 * Add the text to the draft of the opened chat. Call the result once the page is rendered: it restores the caret, and
 * sends the message if its last key was Enter.
 */
export function takeEarlyText(): () => void {
  const boxes = [...document.querySelectorAll<HTMLTextAreaElement>("[data-shell] textarea")];
  const typed = boxes.map(({ value }) => value).find(Boolean);
  const box = boxes.find((one) => one === document.activeElement);
  const fromEnd = box ? box.value.length - box.selectionEnd : 0;
  // Text after Enter means that the user was not finished. An unseen draft from the last visit is not sent either.
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
