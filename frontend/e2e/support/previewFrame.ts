// Shows a page in the preview frame, as the panel does, and collects what the frame reports.
import type { Page } from "@playwright/test";
import type { FromFrame, ToFrame } from "../../src/types/previewFrame.ts";

type Show = Partial<Extract<ToFrame, { type: "files" }>>;

/** Load the frame into the chat page, and return when the files are shown or `wait` is false. */
export async function showPreview(
  page: Page,
  files: Readonly<Record<string, string>>,
  { wait = true, ...more }: Show & { wait?: boolean } = {},
): Promise<void> {
  await page.evaluate(
    async ({ files, more, wait }) => {
      document.querySelector("iframe")?.remove();
      const frame = document.createElement("iframe");
      const reported: FromFrame[] = [];
      Object.assign(window, { reported });
      frame.setAttribute("sandbox", "allow-scripts");
      frame.style.cssText = "position:fixed;inset:0;width:60vw;height:60vh;z-index:99;background:#fff";
      frame.src = more.mode === "draft" ? "preview-frame?mode=draft" : "preview-frame";
      const shown = new Promise<void>((resolve) =>
        window.addEventListener("message", ({ source, data }: MessageEvent<FromFrame>) => {
          if (source !== frame.contentWindow) return;
          reported.push(data);
          if (data.type === "shown") resolve();
          if (data.type !== "ready") return;
          const message = { type: "files", mode: "live", changed: files, removed: [], entry: "index.html" };
          frame.contentWindow?.postMessage({ ...message, scroll: { x: 0, y: 0 }, ...more }, "*");
        }),
      );
      document.body.append(frame);
      if (wait) await shown;
    },
    { files, more, wait },
  );
}

export const previewOf = (page: Page) => page.frameLocator("iframe");

export const reported = (page: Page): Promise<readonly FromFrame[]> =>
  page.evaluate(() => (window as unknown as { reported: FromFrame[] }).reported);

/** What the page in the frame has logged to its console. */
export const logged = async (page: Page): Promise<readonly string[]> =>
  (await reported(page)).flatMap((message) => (message.type === "log" ? [message.text] : []));

/** Send a message to the frame. */
export const sendToFrame = (page: Page, message: ToFrame): Promise<void> =>
  page.evaluate((sent) => document.querySelector("iframe")?.contentWindow?.postMessage(sent, "*"), message);
