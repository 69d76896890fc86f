// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ComponentProps } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BranchSwitch } from "./BranchSwitch.tsx";
import { isLong, Question } from "./Question.tsx";

type Props = ComponentProps<typeof Question>;

const PICTURE = { id: "p", name: "cat.png", url: "data:image/png;base64,AAAA" };

const props = (more: Partial<Props> = {}) => ({
  text: "Why?",
  pictures: [],
  files: [],
  onEdit: vi.fn<() => void>(),
  switcher: null,
  editing: false,
  onSaveEdit: vi.fn<Props["onSaveEdit"]>(),
  onCancelEdit: vi.fn<Props["onCancelEdit"]>(),
  ...more,
});

const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });
const box = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Edit message" });

afterEach(cleanup);

describe("a question", () => {
  it("is plain text, with its pictures and the names of its files", () => {
    const { container } = render(
      <Question {...props({ text: "<b>no</b>\n**mark**", pictures: [PICTURE], files: ["a.pdf"] })} />,
    );
    expect(container.querySelector("[data-part=question] p.plain-lines")?.textContent).toBe("<b>no</b>\n**mark**");
    expect(screen.getByAltText("cat.png")).toBeDefined();
    expect(screen.getByText("a.pdf")).toBeDefined();
  });

  it("opens a picture large, and closes it", async () => {
    render(<Question {...props({ pictures: [PICTURE] })} />);
    await userEvent.click(button("Open cat.png"));
    const dialog = await screen.findByRole("dialog", { name: "cat.png" });
    expect(dialog.querySelector("img")?.getAttribute("src")).toBe(PICTURE.url);
    await userEvent.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("is folded if it is long, and unfolds", async () => {
    render(<Question {...props({ text: "line\n".repeat(40) })} />);
    const words = screen.getByText(/line/);
    expect(words.className).toContain("line-clamp-12");
    await userEvent.click(button("Show all"));
    expect(words.className).not.toContain("line-clamp-12");
    expect(button("Show less").getAttribute("aria-expanded")).toBe("true");
  });

  it.each([
    ["line\n".repeat(13), false],
    ["line\n".repeat(15), true],
    ["w".repeat(600), false],
    ["w".repeat(1200), true],
  ])("knows what is long", (text, long) => {
    expect(isLong(text)).toBe(long);
  });

  it("has no Edit button if it cannot be edited, and copies its text", async () => {
    const writeText = vi.fn<(text: string) => Promise<void>>().mockResolvedValue();
    vi.stubGlobal("navigator", { ...navigator, userAgent: "X11; Linux", clipboard: { writeText } });
    render(<Question {...props({ onEdit: undefined })} />);
    expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
    fireEvent.click(button("Copy"));
    expect(await screen.findByRole("button", { name: "Copied" })).toBeDefined();
    expect(writeText).toHaveBeenCalledWith("Why?");
    vi.unstubAllGlobals();
  });
});

describe("an edited question", () => {
  it("is saved by the keyboard and by the button, with its pictures beside it", async () => {
    const given = props({ editing: true, pictures: [PICTURE] });
    render(<Question {...given} />);
    expect(document.activeElement).toBe(box());
    expect(screen.getByAltText("cat.png")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Remove cat.png" })).toBeNull();
    await userEvent.type(box(), " And when?{Enter}now{Control>}{Enter}{/Control}");
    await userEvent.click(button("Save and send"));
    expect(given.onSaveEdit).toHaveBeenCalledTimes(2);
    for (const call of [1, 2]) expect(given.onSaveEdit).toHaveBeenNthCalledWith(call, "Why? And when?\nnow");
  });

  it("is closed by Escape, which has no other effect, and the focus returns to Edit", () => {
    const given = props({ editing: true });
    const { rerender } = render(<Question {...given} />);
    expect(fireEvent.keyDown(box(), { key: "Escape" })).toBe(false);
    expect(given.onCancelEdit).toHaveBeenCalledOnce();
    rerender(<Question {...given} editing={false} />);
    expect(document.activeElement).toBe(button("Edit"));
  });

  it("is not saved empty", async () => {
    const given = props({ editing: true });
    render(<Question {...given} />);
    await userEvent.clear(box());
    fireEvent.keyDown(box(), { key: "Enter", ctrlKey: true });
    expect(button("Save and send").disabled).toBe(true);
    expect(given.onSaveEdit).not.toHaveBeenCalled();
  });
});

describe("the versions", () => {
  const onPrevious = vi.fn<() => void>();
  const onNext = vi.fn<() => void>();
  const versions = (index: number, count: number) => (
    <BranchSwitch {...{ index, count, onPrevious, onNext }} label="question" />
  );

  // Not `disabled`, which would lose the focus.
  const isEnd = (name: string) => button(name).getAttribute("aria-disabled");

  it("are switched up to both ends", () => {
    const { rerender } = render(versions(1, 3));
    expect(screen.getByRole("group", { name: "Versions of the question" }).textContent).toBe("2/ of 3");
    fireEvent.click(button("Previous version"));
    fireEvent.click(button("Next version"));
    expect(onPrevious).toHaveBeenCalledOnce();
    expect(onNext).toHaveBeenCalledOnce();
    rerender(versions(0, 3));
    expect([isEnd("Previous version"), isEnd("Next version")]).toEqual(["true", "false"]);
    fireEvent.click(button("Previous version"));
    expect(onPrevious).toHaveBeenCalledOnce();
    rerender(versions(2, 3));
    expect([isEnd("Previous version"), isEnd("Next version")]).toEqual(["false", "true"]);
  });

  it("are not shown if there is only one", () => {
    const { container } = render(versions(0, 1));
    expect(container.textContent).toBe("");
  });
});
