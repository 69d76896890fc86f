// @vitest-environment jsdom
import { act, cleanup, createEvent, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { type ComponentProps, createRef } from "react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { drafts } from "../../state/drafts.ts";
import { Composer, type ComposerHandle, PictureRow, QueueLines } from "./Composer.tsx";

type Props = ComponentProps<typeof Composer>;

const PICTURE = { id: "p", name: "cat.png", url: "data:image/png;base64,AAAA" };
const NO_PICTURES: Props["pictures"] = { allowed: false, reason: "This model cannot read images." };

function props(more: Partial<Props> = {}) {
  return {
    box: createRef<HTMLTextAreaElement>(),
    running: false,
    stopping: false,
    pictures: { allowed: true } as Props["pictures"],
    queue: [],
    held: false,
    hold: undefined,
    draftKey: "new",
    toolbar: <button type="button">Model</button>,
    onSend: vi.fn<Props["onSend"]>(),
    onStop: vi.fn<Props["onStop"]>(),
    onEditLast: vi.fn<() => void>(),
    onQueueSend: vi.fn<Props["onQueueSend"]>(),
    onQueueEdit: vi.fn<Props["onQueueEdit"]>(),
    onQueueRemove: vi.fn<Props["onQueueRemove"]>(),
    onQueueFix: vi.fn<Props["onQueueFix"]>(),
    ...more,
  };
}

const box = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });
const file = (name: string, type: string) => new File(["x"], name, { type });

/** Images are read within a few microtasks. */
const settled = () => act(async () => void (await new Promise((resolve) => setImmediate(resolve))));

function paste(files: File[]): boolean {
  const event = createEvent.paste(box());
  Object.defineProperty(event, "clipboardData", { value: { files, types: ["Files"] } });
  return fireEvent(box(), event);
}

function drop(type: "dragover" | "dragleave" | "drop", files: File[]): boolean {
  const event = new Event(type, { cancelable: true });
  return fireEvent(window, Object.assign(event, { dataTransfer: { files, types: ["Files"] }, relatedTarget: null }));
}

function scriptImages(): void {
  vi.stubGlobal("createImageBitmap", async () => ({ width: 10, height: 10, close: () => {} }));
}

beforeAll(() => Promise.all([PictureRow.preload(), QueueLines.preload()]).then(() => undefined));
afterEach(() => {
  cleanup();
  for (const key of ["new", "c1"]) drafts.clear(key);
  vi.unstubAllGlobals();
});

describe("writing", () => {
  it("sends with Enter, breaks the line with Shift+Enter, and is empty after sending", async () => {
    const given = props();
    render(<Composer {...given} />);
    await userEvent.type(box(), "one{Shift>}{Enter}{/Shift}two{Enter}");
    expect(given.onSend).toHaveBeenCalledExactlyOnceWith("one\ntwo", []);
    expect(box().value).toBe("");
    expect(document.activeElement).toBe(box());
  });

  it("does not send an empty message", async () => {
    const given = props();
    render(<Composer {...given} />);
    await userEvent.type(box(), "  {Enter}");
    expect(given.onSend).not.toHaveBeenCalled();
    expect(button("Send").disabled).toBe(true);
  });

  it("leaves Enter and Escape to input methods", () => {
    const given = props({ running: true });
    render(<Composer {...given} />);
    fireEvent.change(box(), { target: { value: "に" } });
    for (const key of ["Enter", "Escape"]) {
      fireEvent.keyDown(box(), { key, isComposing: true });
      fireEvent.keyDown(box(), { key, keyCode: 229 });
    }
    expect(given.onSend).not.toHaveBeenCalled();
    expect(given.onStop).not.toHaveBeenCalled();
  });

  it("edits the last question with Up, only in an empty box", async () => {
    const given = props();
    render(<Composer {...given} />);
    await userEvent.type(box(), "x{ArrowUp}");
    expect(given.onEditLast).not.toHaveBeenCalled();
    await userEvent.type(box(), "{Backspace}{ArrowUp}");
    expect(given.onEditLast).toHaveBeenCalledOnce();
  });

  it("inserts returned text before the draft, and takes the focus", async () => {
    const handle = createRef<ComposerHandle>();
    render(<Composer {...props()} handle={handle} />);
    await userEvent.type(box(), "mine");
    box().blur();
    act(() => handle.current?.insert("queued", [PICTURE]));
    expect(box().value).toBe("queued\n\nmine");
    expect(button("Open cat.png")).toBeDefined();
    expect(document.activeElement).toBe(box());
  });
});

describe("a draft", () => {
  it("is separate for each conversation, and comes back", async () => {
    const given = props();
    const { rerender, unmount } = render(<Composer {...given} />);
    await userEvent.type(box(), "unsent");
    rerender(<Composer {...given} draftKey="c1" />);
    expect(box().value).toBe("");
    rerender(<Composer {...given} />);
    expect(box().value).toBe("unsent");
    unmount();
    render(<Composer {...given} />);
    expect(box().value).toBe("unsent");
    expect(JSON.parse(sessionStorage.getItem("signalbox.draft.new.text") ?? "")).toBe("unsent");
  });

  it("gets its image even if another conversation is open by then", async () => {
    scriptImages();
    const given = props();
    const { rerender } = render(<Composer {...given} />);
    paste([file("cat.png", "image/png")]);
    rerender(<Composer {...given} draftKey="c1" />);
    await waitFor(() => expect(drafts.get("new").pictures).toHaveLength(1));
    expect(drafts.get("c1").pictures).toEqual([]);
  });
});

describe("while an answer runs", () => {
  const queue = [
    { id: "q1", text: "first", pictures: [] },
    { id: "q2", text: "", pictures: [PICTURE] },
  ];

  it("stops with the button and with Escape, and queues with Enter", async () => {
    const given = props({ running: true });
    render(<Composer {...given} />);
    expect(screen.queryByRole("button", { name: "Queued messages" })).toBeNull();
    await userEvent.type(box(), "next");
    expect(button("Queue").disabled).toBe(false);
    await userEvent.type(box(), "{Enter}");
    expect(given.onSend).toHaveBeenCalledExactlyOnceWith("next", []);
    await userEvent.click(button("Stop"));
    await userEvent.type(box(), "{Escape}");
    expect(given.onStop).toHaveBeenCalledTimes(2);
  });

  it("does not stop twice, and returns the focus when the button disappears", () => {
    const given = props({ running: true });
    const { rerender } = render(<Composer {...given} />);
    button("Stop").focus();
    rerender(<Composer {...given} stopping />);
    fireEvent.click(button("Stopping"));
    expect(given.onStop).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(button("Stopping"));
    rerender(<Composer {...given} running={false} />);
    expect(document.activeElement).toBe(box());
  });

  it("shows queued messages with their three actions", async () => {
    const given = props({ running: true, queue });
    render(<Composer {...given} />);
    const [first, second] = within(screen.getByRole("region", { name: "Queued messages" })).getAllByRole("listitem");
    if (!first || !second) throw new Error("Two lines are expected");
    expect(first.textContent).toContain("first");
    expect(second.textContent).toContain("1 image");
    await userEvent.click(within(first).getByRole("button", { name: "Send now" }));
    await userEvent.click(within(second).getByRole("button", { name: "Edit" }));
    await userEvent.click(within(second).getByRole("button", { name: "Delete" }));
    expect(given.onQueueSend).toHaveBeenCalledExactlyOnceWith("q1");
    expect(given.onQueueEdit).toHaveBeenCalledExactlyOnceWith("q2");
    expect(given.onQueueRemove).toHaveBeenCalledExactlyOnceWith("q2");
    expect(given.onSend).not.toHaveBeenCalled();
  });

  it("announces the number of queued messages, and shows why they are not sent", () => {
    const given = props({ queue });
    const { rerender } = render(<Composer {...given} held />);
    expect(screen.getByText("2 messages queued.").getAttribute("role")).toBe("status");
    expect(screen.getByText(/Not sent yet/)).toBeDefined();
    rerender(<Composer {...given} />);
    expect(screen.queryByText(/waits for you/)).toBeNull();
  });
});

describe("pictures", () => {
  it("are added by paste, drop and button, and are sent with the message", async () => {
    scriptImages();
    const given = props();
    const { container } = render(<Composer {...given} />);
    expect(paste([file("one.png", "image/png")])).toBe(false);
    await screen.findByRole("button", { name: "Open one.png" });
    expect(drop("drop", [file("two.webp", "image/webp")])).toBe(false);
    await screen.findByRole("button", { name: "Open two.webp" });
    const input = container.querySelector<HTMLInputElement>("input[type=file]");
    if (!input) throw new Error("No file input");
    expect(input.accept).toBe("image/png,image/jpeg,image/webp,image/gif");
    await userEvent.upload(input, [file("three.gif", "image/gif")]);
    await screen.findByAltText("three.gif");

    await userEvent.click(button("Remove two.webp"));
    await userEvent.type(box(), "{Enter}");
    expect(given.onSend).toHaveBeenCalledExactlyOnceWith("", [
      expect.objectContaining({ name: "one.png", url: expect.stringMatching(/^data:image\/png;base64,/) }),
      expect.objectContaining({ name: "three.gif" }),
    ]);
    expect(screen.queryByAltText("one.png")).toBeNull();
  });

  it("are not sent before they are read", async () => {
    let decoded = (_: unknown) => {};
    vi.stubGlobal("createImageBitmap", () => new Promise((resolve) => (decoded = resolve)));
    const given = props();
    render(<Composer {...given} />);
    paste([file("one.png", "image/png")]);
    await userEvent.type(box(), "look{Enter}");
    expect(given.onSend).not.toHaveBeenCalled();
    expect(screen.getByText("Reading the images…")).toBeDefined();
    decoded({ width: 1, height: 1, close: () => {} });
    await screen.findByAltText("one.png");
    await userEvent.type(box(), "{Enter}");
    expect(given.onSend).toHaveBeenCalledExactlyOnceWith("look", [expect.objectContaining({ name: "one.png" })]);
  });

  it("are rejected with the reason if the model cannot read images, and the text stays", async () => {
    const given = props({ pictures: NO_PICTURES });
    render(<Composer {...given} />);
    await userEvent.type(box(), "words");
    for (const attempt of [
      () => paste([file("one.png", "image/png")]),
      () => drop("drop", [file("one.png", "image/png")]),
      () => fireEvent.click(button("Add images")),
    ]) {
      attempt();
      await settled();
      expect(screen.getByText("This model cannot read images.").getAttribute("role")).toBe("status");
    }
    expect(button("Add images").getAttribute("aria-disabled")).toBe("true");
    expect(box().value).toBe("words");
    expect(drafts.get("new").pictures).toEqual([]);
    await userEvent.type(box(), "{Enter}");
    expect(given.onSend).toHaveBeenCalledExactlyOnceWith("words", []);
    expect(screen.queryByText("This model cannot read images.")).toBeNull();
  });

  it("block sending if the chosen model cannot read images", async () => {
    drafts.change("new", () => ({ pictures: [PICTURE] }));
    const given = props({ pictures: NO_PICTURES });
    const { rerender } = render(<Composer {...given} />);
    await userEvent.type(box(), "look{Enter}");
    expect(given.onSend).not.toHaveBeenCalled();
    expect(screen.getByText(/Remove the images or choose another model/)).toBeDefined();
    rerender(<Composer {...given} pictures={{ allowed: true }} />);
    await userEvent.type(box(), "{Enter}");
    expect(given.onSend).toHaveBeenCalledExactlyOnceWith("look", [PICTURE]);
  });

  it("show a drop area while files are dragged, and never leave the page", () => {
    const { container } = render(<Composer {...props()} />);
    const area = () => container.querySelector("[data-part=drop-area]");
    expect(drop("dragover", [])).toBe(false);
    expect(area()?.textContent).toContain("Drop images");
    drop("dragleave", []);
    expect(area()).toBeNull();
  });

  it("are not confused with dragged text", () => {
    const { container } = render(<Composer {...props()} />);
    const event = Object.assign(new Event("dragover", { cancelable: true }), {
      dataTransfer: { types: ["text/plain"] },
    });
    expect(fireEvent(window, event)).toBe(true);
    expect(container.querySelector("[data-part=drop-area]")).toBeNull();
  });

  it("are listed by name if they are no images", async () => {
    render(<Composer {...props()} />);
    drop("drop", [file("notes.pdf", "application/pdf")]);
    expect(await screen.findByText(/notes.pdf was not added/)).toBeDefined();
  });
});
