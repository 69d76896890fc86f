// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { fixture } from "../../fixtures/read.ts";
import {
  addText,
  call,
  done,
  feed,
  found,
  head,
  line,
  meta,
  page,
  show,
  think,
} from "../../fixtures/responsePanel.tsx";
import type { ChatEvent } from "../../types/models.ts";
import { preloadMenu } from "../ui/Menu.tsx";

const drawn = vi.hoisted(() => ({ lamps: 0, texts: [] as string[] }));
vi.mock("../markdown/Prose.tsx", () => ({
  Prose: ({ text, sources }: { text: string; sources: ReadonlyMap<number, unknown> }) => {
    drawn.texts.push(text);
    return <div data-sources={[...sources.keys()].join()}>{text}</div>;
  },
}));
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

describe("the first moment", () => {
  it("shows a lamp before the first byte, and a reasoning row if reasoning was requested", () => {
    show(scriptedAnswer());
    expect(line()).toEqual(["running Waiting for the model"]);
    cleanup();
    show(scriptedAnswer("high"));
    expect(line()).toEqual(["running Thinking"]);
  });

  it("counts the seconds", () => {
    show(scriptedAnswer());
    act(() => vi.advanceTimersByTime(3000));
    expect(line()).toEqual(["running Waiting for the model · 3 s"]);
  });
});

describe("a server with only the contract's minimum", () => {
  const bare = { id: "a", name: "search_web" };
  const announced: ChatEvent = { type: "tool_calls", calls: [{ ...bare, arguments: '{"query":"tides"}' }] };
  const result: ChatEvent = { type: "tool_result", ...bare, result: { success: true, result: { results: [page(1)] } } };

  it.each([
    ["says where a call is shown when it starts", [announced, { type: "tool_executing", ...bare, ...meta }, result]],
    ["says it with the result", [announced, { type: "tool_executing", ...bare }, { ...result, ...meta }]],
    ["never says it", [announced, { type: "tool_executing", ...bare }, result]],
    ["gives the result another id", [announced, { ...result, id: "b" }]],
  ] as [string, ChatEvent[]][])("%s: the search panel is shown", (_, events) => {
    const answer = scriptedAnswer();
    show(answer);
    feed(answer, ...events);
    expect(line()[0]).toBe("done Searched · 1 source +");
    expect(screen.getByText("tides")).toBeDefined();
    expect(screen.getByText("Page 1")).toBeDefined();
  });
});

describe("automatic panels", () => {
  it("open for reasoning, then for search, until the answer begins", () => {
    const answer = scriptedAnswer("high");
    show(answer);
    feed(answer, think("First I look.", 1));
    expect(line()).toEqual(["running Thinking +"]);
    feed(answer, call("a", 1));
    expect(line()).toEqual(["done Thought +", "running Searching"]);
    act(() => vi.advanceTimersByTime(349));
    expect(line()[0]).toBe("done Thought +");
    act(() => vi.advanceTimersByTime(2));
    expect(line()).toEqual(["done Thought", "running Searching"]);
    feed(answer, found("a", [page(1)]));
    expect(line()).toEqual(["done Thought", "done Searched · 1 source +", "running Thinking"]);
    feed(answer, think("Good.", 2));
    expect(line()).toEqual(["done Thought", "done Searched · 1 source +", "running Thinking +"]);
    feed(answer, addText("It is so [1]."));
    expect(line()).toEqual(["done Thought", "done Searched · 1 source", "done Thought", "answer"]);
    feed(answer, done());
    expect(line().slice(-2)).toEqual(["answer", "end"]);
  });

  it("stay open while reasoning continues after a call", () => {
    const answer = scriptedAnswer();
    show(answer);
    feed(answer, think("a", 1), call("x", 1));
    act(() => vi.advanceTimersByTime(300));
    feed(answer, think("b", 1));
    act(() => vi.advanceTimersByTime(300));
    expect(line()[0]).toBe("running Thinking +");
    act(() => vi.advanceTimersByTime(51));
    expect(line()[0]).toBe("running Thinking");
  });

  it("leave a panel alone that the user has opened or closed, also after it is shown again", () => {
    const answer = scriptedAnswer();
    const { unmount } = show(answer);
    feed(answer, think("First I look.", 1));
    fireEvent.click(head(/^Thinking/));
    expect(line()).toEqual(["running Thinking"]);
    feed(answer, think(" And more.", 1));
    expect(line()).toEqual(["running Thinking"]);
    feed(answer, call("a", 1), found("a", [page(1)]));
    fireEvent.click(head(/^Thought/));
    unmount();
    show(answer);
    expect(line().slice(0, 2)).toEqual(["done Thought +", "done Searched · 1 source +"]);
    feed(answer, addText("It is so."), done());
    expect(line().slice(0, 2)).toEqual(["done Thought +", "done Searched · 1 source"]);
  });

  it("follow the user's setting for reasoning", () => {
    const answer = scriptedAnswer("auto", ...fixture("tools"));
    show(answer, {}, "open");
    expect(
      line()
        .filter((stop) => stop.includes("Thought"))
        .every((stop) => stop.endsWith("+")),
    ).toBe(true);
    cleanup();
    const live = scriptedAnswer();
    show(live, {}, "closed");
    feed(live, think("a", 1));
    expect(line()).toEqual(["running Thinking"]);
  });
});

describe("reasoning", () => {
  it("keeps all text over two rounds of search", () => {
    const answer = scriptedAnswer();
    show(answer, {}, "open");
    feed(answer, think("one ", 1), think("and two", 1), call("a", 1), found("a"));
    feed(answer, think("three", 2), call("b", 2), found("b"), think("four", 3), addText("Done."));
    const texts = () => screen.getAllByRole("group", { name: "Reasoning" }).map((block) => block.textContent);
    expect(texts()).toEqual(["one and two", "three", "four"]);
    feed(answer, done());
    expect(texts()).toEqual(["one and two", "three", "four"]);
  });

  it("is marked if the provider hides it, and leaves no empty block", () => {
    show(scriptedAnswer("auto", ...fixture("hidden-reasoning")));
    expect(line()[0]).toMatch(/^done Thought.* · not shown by the provider$/);
    cleanup();
    const answer = scriptedAnswer("high", think("", 1));
    show(answer);
    expect(line()).toEqual(["running Thinking"]);
    feed(answer, addText("Hello."), done());
    expect(line()).toEqual(["answer", "end"]);
  });
});

describe("a token", () => {
  it("of the answer only renders the growing text again", () => {
    const events = fixture("tools");
    const answer = scriptedAnswer("auto", ...events.slice(0, -2));
    show(answer, {}, "open");
    drawn.lamps = 0;
    drawn.texts = [];
    feed(answer, addText(" more"));
    expect(drawn).toEqual({ lamps: 0, texts: [expect.stringMatching(/café {2}more$/)] });
  });

  it("of reasoning only renders its block again", () => {
    const answer = scriptedAnswer("auto", think("a", 1), call("x", 1), found("x", [page(1)]), think("b", 2));
    show(answer, {}, "open");
    drawn.lamps = 0;
    drawn.texts = [];
    feed(answer, think("c", 2));
    expect(drawn).toEqual({ lamps: 1, texts: ["bc"] });
  });

  it("keeps the source map of a text until a call adds a source", () => {
    show(scriptedAnswer("auto", ...fixture("tools")));
    const [first] = document.querySelectorAll("[data-sources]");
    expect(first?.getAttribute("data-sources")).toBe("2,3,1");
  });
});
