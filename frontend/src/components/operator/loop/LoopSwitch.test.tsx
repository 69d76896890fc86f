// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LoopFlag } from "../../../types/models.ts";
import { LoopSwitch } from "./LoopSwitch.tsx";

afterEach(cleanup);

const flag = (more: Partial<LoopFlag> = {}): LoopFlag => ({
  state: "off",
  percent: 0,
  environment: undefined,
  effective: "Every run uses the legacy loop: an override is set.",
  ...more,
});

function show(first: LoopFlag, saving = false) {
  const onApply = vi.fn();
  const view = render(<LoopSwitch flag={first} saving={saving} onApply={onApply} />);
  const again = (next: LoopFlag) => view.rerender(<LoopSwitch flag={next} saving={false} onApply={onApply} />);
  return { onApply, again };
}

const radio = (name: RegExp) => screen.getByRole<HTMLInputElement>("radio", { name });

describe("the loop switch", () => {
  it("shows the loop in use and the current setting", () => {
    show(flag());
    expect(screen.getByRole("status").textContent).toBe("Every run uses the legacy loop: an override is set.");
    expect(radio(/^Off/).checked).toBe(true);
    expect(radio(/current/)).toBe(radio(/^Off/));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Current setting" }).disabled).toBe(true);
  });

  it("explains the effect before it is applied", async () => {
    const { onApply } = show(flag());
    await userEvent.click(radio(/^On/));
    expect(screen.getByText(/^All new answers use the V2 loop/)).toBeTruthy();
    expect(onApply).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Apply" }));
    expect(onApply).toHaveBeenCalledExactlyOnceWith({ state: "on", percent: 10 });
  });

  it("sets a percentage by buttons and by keyboard", async () => {
    const { onApply } = show(flag());
    expect(screen.queryByRole("slider")).toBeNull();
    await userEvent.click(radio(/^Percent/));
    await userEvent.click(screen.getByRole("button", { name: "25%" }));
    expect(screen.getByRole<HTMLInputElement>("slider").value).toBe("25");
    expect(screen.getByText(/^About 25% of conversations/)).toBeTruthy();
    radio(/^Percent/).focus();
    await userEvent.keyboard("{Enter}");
    expect(onApply).toHaveBeenCalledExactlyOnceWith({ state: "percent", percent: 25 });
  });

  it("can apply another percentage than the current one", async () => {
    show(flag({ state: "percent", percent: 50 }));
    expect(screen.getByRole("button", { name: "Current setting" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "5%" }));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Apply" }).disabled).toBe(false);
  });

  it("follows another operator's change, and discards the choice made here", async () => {
    const { again } = show(flag());
    await userEvent.click(radio(/^Percent/));
    again(flag());
    expect(radio(/^Percent/).checked).toBe(true);
    again(flag({ state: "on" }));
    expect(radio(/^On/).checked).toBe(true);
    expect(screen.getByRole("button", { name: "Current setting" })).toBeTruthy();
  });

  it("waits for a choice if no override is stored", () => {
    show(flag({ state: undefined, environment: true }));
    expect(screen.getByText(/^No setting chosen yet, so TOOL_LOOP_V2=true/)).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button").disabled).toBe(true);
  });

  it("is disabled by the kill switch, with the reason", () => {
    show(flag({ state: "percent", percent: 30, environment: false }));
    for (const position of screen.getAllByRole<HTMLInputElement>("radio"))
      expect(position.matches(":disabled")).toBe(true);
    expect(screen.queryByRole("button")).toBeNull();
    expect(screen.queryByRole("slider")).toBeNull();
    expect(screen.getByText(/overrides this setting/)).toBeTruthy();
  });

  it("is disabled while saving", () => {
    show(flag({ state: "on" }), true);
    const form = within(screen.getByRole("form", { name: "TOOL_LOOP_V2" }));
    expect(form.getByRole<HTMLButtonElement>("button", { name: "Saving…" }).disabled).toBe(true);
  });
});
