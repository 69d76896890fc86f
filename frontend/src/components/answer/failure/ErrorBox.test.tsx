// @vitest-environment jsdom
// The error box has our title and quotes the provider's message below it.
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { emptyTrace } from "../../../logic/trace/reducer.ts";
import type { RunEnd } from "../../../types/models.ts";
import { ErrorBox } from "./ErrorBox.tsx";

afterEach(cleanup);

const ACTIONS = {
  onRetry: undefined,
  onRetryWith: undefined,
  onStop: () => undefined,
  onContinue: undefined,
  limits: {},
  onLimit: undefined,
  onInspect: () => undefined,
  onSave: undefined,
  onNew: undefined,
  onToken: undefined,
};

function show(end: RunEnd) {
  const trace = emptyTrace("m");
  const steps = { sentence: "Retry.", fixes: [] };
  render(<ErrorBox {...{ trace, end, steps }} own={trace} actions={ACTIONS} limit={undefined} endedAt={undefined} />);
}

const rejected = (said: string): RunEnd => ({
  status: "error",
  code: "UPSTREAM_REJECTED",
  error: `The upstream rejected the request. OpenAI said: ${said}`,
});

describe("the provider's message", () => {
  it("is quoted below our title, and is not part of the alert", () => {
    show(rejected("Invalid 'messages[3].role'."));
    const alert = screen.getByRole("alert");
    expect(alert.querySelector("p")?.textContent).toBe("The provider rejected this request.");
    expect(alert.textContent).not.toContain("messages[3]");
    const quote = screen.getByRole("figure", { name: "OpenAI said:" });
    expect(quote.querySelector("blockquote")?.textContent).toBe("Invalid 'messages[3].role'.");
    expect(within(quote).queryByRole("button")).toBeNull();
  });

  it("is folded when long", () => {
    const said = "Unsupported value. ".repeat(20);
    show(rejected(said));
    const quote = screen.getByRole("figure");
    const isFolded = () => quote.querySelector("blockquote")?.classList.contains("line-clamp-2");
    expect(isFolded()).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: "Show more", expanded: false }));
    expect(isFolded()).toBe(false);
    expect(quote.textContent).toContain(said);
    fireEvent.click(screen.getByRole("button", { name: "Show less", expanded: true }));
    expect(isFolded()).toBe(true);
  });

  it("is left out if there is none", () => {
    show({ status: "interrupted", code: "STREAM_CUT", error: "The answer broke off before it was complete." });
    expect(screen.queryByRole("figure")).toBeNull();
    expect(screen.getAllByText("The answer broke off before it was complete.")).toHaveLength(1);
  });
});
