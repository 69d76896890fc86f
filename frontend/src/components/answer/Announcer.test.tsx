// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { fixture } from "../../fixtures/read.ts";
import { Announcer } from "./Announcer.tsx";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const said = () => screen.getByRole("status").textContent;

it("announces each change once, and nothing per token", async () => {
  const answer = scriptedAnswer();
  render(<Announcer answer={answer} />);
  const heard = [said()];
  for (const event of fixture("search-and-calculate")) {
    act(() => answer.feed(event));
    if (said() !== heard.at(-1)) heard.push(said());
  }
  expect(heard).toEqual([
    "Waiting for the model.",
    "Thinking.",
    "Working.",
    "Thinking.",
    "Writing the answer.",
    "The answer is complete.",
  ]);
});

it("repeats an unchanged state every 15 seconds", () => {
  const answer = scriptedAnswer();
  render(<Announcer answer={answer} />);
  act(() => answer.feed({ type: "content", content: "a" }));
  act(() => vi.advanceTimersByTime(14_000));
  act(() => answer.feed({ type: "content", content: "b" }));
  expect(said()).toBe("Writing the answer.");
  act(() => vi.advanceTimersByTime(1000));
  expect(said()).toBe("Still writing the answer, 15 seconds.");
  act(() => vi.advanceTimersByTime(15_000));
  expect(said()).toBe("Still writing the answer, 30 seconds.");
  act(() => answer.feed({ type: "done", done: true, status: "complete" }));
  act(() => vi.advanceTimersByTime(60_000));
  expect(said()).toBe("The answer is complete.");
});

it("announces nothing for a finished or missing answer", () => {
  const { rerender } = render(<Announcer answer={scriptedAnswer("auto", ...fixture("plain"))} />);
  expect(said()).toBe("");
  rerender(<Announcer answer={undefined} />);
  expect(said()).toBe("");
});
