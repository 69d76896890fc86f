// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import {
  addText,
  call,
  done,
  failed,
  feed,
  found,
  head,
  line,
  page,
  show,
  think,
} from "../../fixtures/responsePanel.tsx";
import { preloadMenu } from "../ui/Menu.tsx";

const drawn = vi.hoisted(() => ({ lamps: 0 }));
vi.mock("../markdown/Prose.tsx", () => ({ Prose: ({ text }: { text: string }) => <div>{text}</div> }));
vi.mock("../ui/Lamp.tsx", () => ({
  Lamp: ({ lamp }: { lamp: string }) => {
    drawn.lamps += 1;
    return <i data-lamp={lamp} />;
  },
}));

beforeAll(preloadMenu);
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("the steps of a long run", () => {
  const research = [
    ...[think("one", 1), call("a", 1), found("a", [page(1), page(2)])],
    ...[think("two", 2), call("b", 2), found("b", [page(2), page(3)]), think("three", 3)],
  ];
  const ROW = /^2 searches ?· 3 sources/;
  const rows = () => document.querySelectorAll("[data-part=steps] [data-part=stop]:not([data-kind=steps])").length;
  const folded = () => document.querySelectorAll("[data-part=steps] > [inert] [data-part=stop]").length;

  it("fold into one row when the answer begins, and stay open once the user opens it", () => {
    const answer = scriptedAnswer();
    const { unmount } = show(answer);
    feed(answer, ...research);
    expect(folded()).toBe(0);
    feed(answer, addText("It is so [1]."));
    expect(head(ROW).getAttribute("aria-expanded")).toBe("false");
    expect(folded()).toBe(5);
    fireEvent.click(head(ROW));
    expect([head(ROW).getAttribute("aria-expanded"), folded()]).toEqual(["true", 0]);
    unmount();
    show(answer);
    feed(answer, addText(" And more."), done());
    expect([head(ROW).getAttribute("aria-expanded"), folded(), rows()]).toEqual(["true", 0, 5]);
  });

  it("do not fold while they contain the focus", () => {
    const [pressed, focused] = [scriptedAnswer(), scriptedAnswer()];
    show(pressed);
    feed(pressed, ...research);
    fireEvent.click(screen.getAllByRole("button", { name: /^Thought/ })[0] as HTMLElement);
    feed(pressed, addText("So."), done());
    expect(folded()).toBe(0);
    cleanup();
    show(focused);
    feed(focused, ...research);
    screen.getAllByRole("button", { name: /^Thought/ })[0]?.focus();
    feed(focused, addText("So."), done());
    expect(folded()).toBe(0);
    expect(document.activeElement?.textContent).toMatch(/^Thought/);
  });

  it("stay open if reasoning is always open, and are not rendered before they are opened", () => {
    const answer = scriptedAnswer("auto", ...research, addText("So."), done());
    show(answer, {}, "open");
    expect([rows(), folded()]).toEqual([5, 0]);
    cleanup();
    show(answer);
    expect(rows()).toBe(0);
    fireEvent.click(head(ROW));
    expect(rows()).toBe(5);
  });

  it("show a failure in their row", () => {
    show(scriptedAnswer("auto", ...research, call("c", 3), failed("c", "No.", "TIMEOUT"), addText("So."), done()));
    expect(line()[0]).toBe("failed 3 searches · 3 sources · 1 failed");
    fireEvent.click(head(/^3 searches/));
    expect(line()[0]).toBe("done 3 searches · 3 sources · 1 failed +");
  });

  it("are not rendered again by a token of the answer", () => {
    const answer = scriptedAnswer("auto", ...research, addText("So"));
    show(answer);
    drawn.lamps = 0;
    feed(answer, addText(" more"));
    expect(drawn.lamps).toBe(0);
  });
});
