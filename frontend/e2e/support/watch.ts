// Records what the page shows during a run: the stops on the line after each change, and the text of tools.
import type { Page } from "@playwright/test";

export interface SeenStop {
  kind: string;
  lamp: string;
  /** Undefined if the stop has no panel. */
  open: boolean | undefined;
  title: string;
}

declare global {
  interface Window {
    seen: SeenStop[][];
    words: Set<string>;
  }
}

/** Record the stops of the last answer after each change of the page. */
export async function watchLine(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.seen = [];
    const look = () => {
      const line = [...document.querySelectorAll("[data-part=response]")].at(-1);
      const stops = [...(line?.querySelectorAll<HTMLElement>("[data-part=stop], [data-part=answer]") ?? [])];
      const now = stops.map((stop) => {
        const button = stop.querySelector<HTMLElement>(":scope > div > div > button[aria-expanded]");
        return {
          kind: stop.dataset.kind ?? "answer",
          lamp: stop.dataset.lamp ?? "",
          open: button ? button.ariaExpanded === "true" : undefined,
          title: stop.dataset.kind ? ((button ?? stop.querySelector("p"))?.textContent ?? "") : "",
        };
      });
      if (JSON.stringify(now) !== JSON.stringify(window.seen.at(-1))) window.seen.push(now);
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
}

export const seenLine = (page: Page): Promise<SeenStop[][]> => page.evaluate(() => window.seen);

/** Record the texts of tools in the chat, even if they show for one frame. The answer's text is excluded. */
export async function watchText(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.words = new Set();
    const said =
      "[data-part=stop] > p, [data-part=stop] > div > div > button, [data-part=chip], [data-part=tool], [data-part=query]";
    const look = () => {
      for (const part of document.querySelectorAll(`main :is(${said})`)) window.words.add(part.textContent);
      for (const named of document.querySelectorAll("main :is([aria-label], [title])"))
        window.words.add(`${named.ariaLabel} ${named.getAttribute("title")}`);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

export const seenText = (page: Page): Promise<string[]> => page.evaluate(() => [...window.words]);
