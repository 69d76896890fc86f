// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { eventsOf, fixtures } from "../../fixtures/read.ts";
import { addText, call, failed, feed, found, head, line, show } from "../../fixtures/responsePanel.tsx";
import { connectionLost } from "../../logic/trace/reducer.ts";
import type { ChatEvent } from "../../types/models.ts";
import { preloadMenu } from "../ui/Menu.tsx";

vi.mock("../markdown/Prose.tsx", () => ({ Prose: ({ text }: { text: string }) => <div>{text}</div> }));
vi.mock("../ui/Lamp.tsx", () => ({ Lamp: ({ lamp }: { lamp: string }) => <i data-lamp={lamp} /> }));

beforeAll(preloadMenu);
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("other tools", () => {
  const other = { category: "other", visibility: "secondary", name: "read_url" };

  it("never show if they are hidden, at any event of any run", () => {
    for (const [, bytes] of fixtures) {
      const events = eventsOf(bytes);
      const hidden = events.flatMap((event) =>
        event.type === "tool_calls"
          ? event.calls.filter((one) => one.visibility === "hidden").map(({ name }) => name)
          : [],
      );
      if (hidden.length === 0) continue;
      const answer = scriptedAnswer("auto");
      show(answer, {}, "open");
      for (const event of events) {
        feed(answer, event);
        for (const name of hidden) expect(document.body.innerHTML).not.toContain(name);
      }
      cleanup();
    }
  });

  it("are one line of chips; a failure shows on the chip, with its reason instead of an empty table", () => {
    const answer = scriptedAnswer(
      "auto",
      call("a", 1, other),
      call("b", 1, other),
      call("c", 1, { ...other, name: "save" }),
    );
    show(answer);
    feed(
      answer,
      found("a", [], other),
      failed("b", "The page answered 404.", "TOOL_FAILED", other),
      found("c", [], other),
    );
    expect(line()[0]).toBe("failed Used Read url×2 Save · 1 failed");
    expect(document.querySelectorAll("[data-part=chip]")).toHaveLength(2);
    fireEvent.click(head(/^Used/));
    expect(line()[0]).toBe("done Used Read url×2 Save · 1 failed +");
    const [, card] = document.querySelectorAll<HTMLElement>("[data-part=tool]");
    expect(card?.textContent).toContain("The page answered 404.");
    expect(card?.querySelector("table")).toBeNull();
  });

  it("show tabular values as a table, and only web addresses as links", () => {
    const result = [
      { name: "a", at: "https://e.example/a" },
      { name: "b", at: "javascript:alert(1)" },
    ];
    const event: ChatEvent = { ...(found("a", [], other) as object), result: { success: true, result } } as ChatEvent;
    show(scriptedAnswer("auto", call("a", 1, other), event, addText("x")));
    fireEvent.click(head(/^Used/));
    const card = within(document.querySelector<HTMLElement>("[data-part=tool]") as HTMLElement);
    expect(card.getAllByRole("columnheader").map((cell) => cell.textContent)).toEqual(["name", "at"]);
    expect(card.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual(["https://e.example/a"]);
    expect(card.getByText("about a")).toBeTruthy();
  });

  it("cut long JSON until it is expanded", () => {
    const result = { deep: { text: "x".repeat(3000) } };
    const event: ChatEvent = { ...(found("a", [], other) as object), result: { success: true, result } } as ChatEvent;
    show(scriptedAnswer("auto", call("a", 1, other), event, addText("x")));
    fireEvent.click(head(/^Used/));
    const box = screen.getByRole("region", { name: /^Result/ });
    expect(box.textContent?.length).toBeLessThan(1000);
    fireEvent.click(screen.getByRole("button", { name: /more characters$/ }));
    expect(box.textContent).toContain("x".repeat(3000));
  });

  it("are handed to the client, in the line and on the call, without a lamp left running", () => {
    const weather = { ...other, name: "get_weather" };
    const answer = scriptedAnswer("auto", call("a", 1, weather));
    show(answer);
    feed(answer, { type: "done", done: true, status: "complete", handed: ["a"] });
    expect(line()[0]).toBe("waiting Handed to the client Get weather");
    fireEvent.click(head(/Get weather/));
    expect(document.querySelector("[data-part=tool]")?.textContent).toMatch(/^Get weatherhanded to the client/);
    cleanup();

    const mixed = scriptedAnswer("auto", call("a", 1, weather), call("b", 1, other), found("b", [], other));
    show(mixed);
    feed(mixed, { type: "done", done: true, status: "complete", handed: ["a"] });
    expect(line()[0]).toBe("done Used Get weather Read url · 1 handed to the client");
  });

  it("are stopped or failed if the run ends first, with no lamp left running", () => {
    const answer = scriptedAnswer("auto", call("a", 1, other));
    show(answer);
    act(() => answer.show({ trace: connectionLost(answer.state.trace) }));
    expect(line()).toEqual(["failed Used Read url · failed", "end"]);
    expect(document.querySelectorAll("[data-lamp=running]")).toHaveLength(0);
  });
});
