import { describe, expect, it } from "vitest";
import type { CallItem, CallStatus } from "../../types/models.ts";
import { imageSentence } from "./imageSentence.ts";

const call = (name: string, status: CallStatus, over: Partial<CallItem> = {}): CallItem => ({
  ...{ kind: "call", id: "a", name, arguments: { prompts: ["a fox", "an owl"] }, category: "other" },
  ...{ visibility: "secondary", status, cached: false, links: [] },
  ...over,
});
const fox = { prompt: "a fox", path: "images/a-fox.png", version: 1, size: 900 };
const owl = { prompt: "an owl", error: "The model drew no image.", code: "TOOL_FAILED" };
const artifact = (...images: object[]) => ({ artifact: { type: "images", images } });

describe("the sentence of images", () => {
  it("counts the images that are made, and those that were made", () => {
    expect(imageSentence(call("generate_images", "running"))?.title).toBe("Generating 2 images");
    const made = imageSentence(call("generate_images", "done", artifact(fox, { ...fox, path: "images/b.png" })));
    expect(made).toEqual({ title: "Generated 2 images", path: "images/a-fox.png", failures: [] });
    expect(imageSentence(call("edit_image", "done", artifact(fox)))?.title).toBe("Edited 1 image");
  });

  it("has the reason of each image that was not made", () => {
    expect(imageSentence(call("generate_images", "done", artifact(owl, fox)))).toEqual({
      ...{ title: "Generated 1 of 2 images", path: "images/a-fox.png" },
      failures: [{ label: "an owl", reason: "The model drew no image." }],
    });
    const copies = artifact({ source: "a.png", error: "There is no file a.png." }, { source: "b.png", path: "c.png" });
    const removed = imageSentence(call("remove_background", "done", copies));
    expect(removed?.title).toBe("Removed the background of 1 of 2 images");
    expect(removed?.failures).toEqual([{ label: "a.png", reason: "There is no file a.png." }]);
  });

  it("says why nothing was made", () => {
    const failed = call("generate_images", "failed", { error: "No image was made." });
    expect(imageSentence(failed)).toMatchObject({
      ...{ title: "Generate 2 images: failed", reason: "No image was made.", failures: [] },
    });
    expect(imageSentence({ ...failed, ...artifact(owl) })).toMatchObject({
      failures: [{ label: "an owl", reason: "The model drew no image." }],
    });
    expect(imageSentence(call("edit_image", "cancelled"))?.title).toBe("Edit 1 image: stopped");
  });

  it("counts screenshots, and lists what the page could not load", () => {
    const screenshots = [
      { device: "desktop", path: "screenshots/index-desktop.png" },
      { device: "phone", error: "The screenshot was not stored." },
    ];
    const result = { page: "index.html", screenshots, not_loaded: ["images/owl.png: there is no such file"] };
    const shot = call("screenshot_preview", "done", { arguments: {}, result });
    expect(imageSentence(shot)).toEqual({
      ...{ title: "Took 2 screenshots of index.html", path: "screenshots/index-desktop.png" },
      failures: [
        { label: "phone", reason: "The screenshot was not stored." },
        { label: "Not loaded", reason: "images/owl.png: there is no such file" },
      ],
    });
    const running = call("screenshot_preview", "running", { arguments: { path: "a.html" } });
    expect(imageSentence(running)?.title).toBe("Taking screenshots of a.html");
    expect(imageSentence({ ...running, status: "failed", error: "No browser." })).toMatchObject({
      ...{ title: "Take screenshots of a.html: failed", reason: "No browser." },
    });
  });

  it("survives any artifact, and is absent for other tools", () => {
    for (const artifact of [null, 3, [], { images: 3 }, { images: [null, 3, {}] }])
      expect(imageSentence(call("generate_images", "done", { artifact }))?.failures).toEqual([]);
    expect(imageSentence(call("toString", "done"))).toBeUndefined();
    expect(imageSentence(call("save_note", "done"))).toBeUndefined();
  });
});
