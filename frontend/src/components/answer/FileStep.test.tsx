// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Stop } from "../../logic/answer/stops.ts";
import type { CallItem } from "../../types/models.ts";
import { OpenFile } from "../ui/OpenFile.tsx";
import { FileStep } from "./FileStep.tsx";

afterEach(cleanup);

const call = (over: Partial<CallItem>): CallItem => ({
  ...{ kind: "call", id: "a", name: "create_file", arguments: { path: "index.html" }, category: "other" },
  ...{ visibility: "secondary", status: "done", cached: false, links: [] },
  ...over,
});
const stop = (over: Partial<CallItem> = {}): Extract<Stop, { kind: "file" }> => ({
  ...{ kind: "file", id: "file-a", lamp: "done", call: call(over) },
});
const show = (over: Partial<CallItem>, openFile?: (path: string) => void) =>
  render(
    <OpenFile value={openFile}>
      <FileStep stop={stop(over)} open={false} onToggle={() => undefined} />
    </OpenFile>,
  );

describe("the line of a file", () => {
  it("opens the file in the panel", () => {
    const open = vi.fn();
    show({}, open);
    fireEvent.click(screen.getByRole("button", { name: "Open index.html" }));
    expect(open).toHaveBeenCalledExactlyOnceWith("index.html");
  });

  it("opens nothing for a failed call, and where there is no panel", () => {
    show({});
    show({ status: "failed", error: "It exists." }, vi.fn());
    expect(screen.queryByRole("button", { name: /^Open/ })).toBeNull();
  });

  it("shows why each image was not made", () => {
    const failed = (prompt: string) => ({ prompt, error: "No credit." });
    const images = [{ prompt: "a fox", path: "images/a-fox.png" }, ..."abcdef".split("").map(failed)];
    show({ name: "generate_images", arguments: {}, artifact: { type: "images", images } });
    expect(screen.getByRole("button", { expanded: false }).textContent).toBe("Generated 1 of 7 images");
    const notice = document.querySelector("[data-part=notice]")?.textContent;
    expect(notice).toContain("a: No credit.");
    expect(notice).toContain("2 more failures");
  });
});
