// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LoopFlag } from "../../types/models.ts";
import { LoopSwitch } from "./LoopSwitch.tsx";

afterEach(cleanup);

const lever = (more: Partial<LoopFlag> = {}): LoopFlag => ({
  state: "off",
  percent: 0,
  environment: undefined,
  effective: "Every run uses the legacy loop: an override is set.",
  ...more,
});

function show(first: LoopFlag, pulling = false) {
  const onPull = vi.fn();
  const view = render(<LoopSwitch flag={first} saving={pulling} onApply={onPull} />);
  const again = (next: LoopFlag) => view.rerender(<LoopSwitch flag={next} saving={false} onApply={onPull} />);
  return { onPull, again };
}

const radio = (name: RegExp) => screen.getByRole<HTMLInputElement>("radio", { name });

describe("the lever", () => {
  it("says what holds now, and where it stands", () => {
    show(lever());
    expect(screen.getByRole("status").textContent).toBe("Every run uses the legacy loop: an override is set.");
    expect(radio(/^Off/).checked).toBe(true);
    expect(radio(/current/)).toBe(radio(/^Off/));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Current setting" }).disabled).toBe(true);
  });

  it("says what pulling does before it is pulled", async () => {
    const { onPull } = show(lever());
    await userEvent.click(radio(/^On/));
    expect(screen.getByText(/^All new answers use the V2 loop/)).toBeTruthy();
    expect(onPull).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Apply" }));
    expect(onPull).toHaveBeenCalledExactlyOnceWith({ state: "on", percent: 10 });
  });

  it("pulls to a share, by its steps and by the keyboard", async () => {
    const { onPull } = show(lever());
    expect(screen.queryByRole("slider")).toBeNull();
    await userEvent.click(radio(/^Percent/));
    await userEvent.click(screen.getByRole("button", { name: "25%" }));
    expect(screen.getByRole<HTMLInputElement>("slider").value).toBe("25");
    expect(screen.getByText(/^About 25% of conversations/)).toBeTruthy();
    radio(/^Percent/).focus();
    await userEvent.keyboard("{Enter}");
    expect(onPull).toHaveBeenCalledExactlyOnceWith({ state: "percent", percent: 25 });
  });

  it("knows another share from the one where it stands", async () => {
    show(lever({ state: "percent", percent: 50 }));
    expect(screen.getByRole("button", { name: "Current setting" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "5%" }));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Apply" }).disabled).toBe(false);
  });

  it("follows somebody else's pull, and forgets what was chosen here", async () => {
    const { again } = show(lever());
    await userEvent.click(radio(/^Percent/));
    again(lever());
    expect(radio(/^Percent/).checked).toBe(true);
    again(lever({ state: "on" }));
    expect(radio(/^On/).checked).toBe(true);
    expect(screen.getByRole("button", { name: "Current setting" })).toBeTruthy();
  });

  it("waits for a choice where nobody has pulled it yet", () => {
    show(lever({ state: undefined, environment: true }));
    expect(screen.getByText(/^No setting chosen yet, so TOOL_LOOP_V2=true/)).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button").disabled).toBe(true);
  });

  it("cannot be pulled against the kill switch, and says why", () => {
    show(lever({ state: "percent", percent: 30, environment: false }));
    for (const position of screen.getAllByRole<HTMLInputElement>("radio"))
      expect(position.matches(":disabled")).toBe(true);
    expect(screen.queryByRole("button")).toBeNull();
    expect(screen.queryByRole("slider")).toBeNull();
    expect(screen.getByText(/overrides this setting/)).toBeTruthy();
  });

  it("is not pulled twice", () => {
    show(lever({ state: "on" }), true);
    const form = within(screen.getByRole("form", { name: "TOOL_LOOP_V2" }));
    expect(form.getByRole<HTMLButtonElement>("button", { name: "Saving…" }).disabled).toBe(true);
  });
});
