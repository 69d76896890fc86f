// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { aFileTool, aModel, aTool, catalogue } from "../../fixtures/catalogue.ts";
import { unlistedOf } from "../../logic/models/modelSearch.ts";
import { requestFields } from "../../logic/request/parameters.ts";
import { FIRST_SETTINGS, type SettingsState } from "../../state/settings.ts";
import type { Model, RequestSettings, Tool } from "../../types/api.ts";
import { SettingsPanel } from "./SettingsPanel.tsx";

afterEach(cleanup);

const ABLE = aModel("a/able", { parameters: ["max_tokens", "reasoning", "seed", "temperature", "tools", "top_p"] });
const UNABLE = aModel("a/unable", { parameters: ["max_tokens", "top_p"] });
const TOOLS: readonly Tool[] = [
  aTool("web_search", { title: "Search", summary: "Finds pages.", description: "For models." }),
  aTool("brave_search", { description: "Search with Brave.", unavailable: "BRAVE_API_KEY is not set." }),
];

interface Given {
  ask?: Partial<RequestSettings>;
  model?: Model | undefined;
  tools?: readonly Tool[];
  toolsTrouble?: string;
}

const props = () => ({
  settings: FIRST_SETTINGS,
  onAsk: () => undefined,
  onChange: () => undefined,
  model: ABLE,
  details: ABLE,
  tools: TOOLS,
});

interface Seen {
  now: SettingsState;
}

function Page({ seen, model, tools, toolsTrouble }: Given & { seen: Seen; tools: readonly Tool[] }) {
  const [settings, setSettings] = useState(seen.now);
  seen.now = settings;
  return (
    <SettingsPanel
      settings={settings}
      onAsk={(patch) => setSettings({ ...settings, ask: { ...settings.ask, ...patch } })}
      onChange={(patch) => setSettings({ ...settings, ...patch })}
      details={model ?? unlistedOf([], "own/model")}
      model={model}
      tools={tools}
      toolsTrouble={toolsTrouble}
    />
  );
}

/** The panel with stateful settings, and their current value. */
function panel({ ask = {}, model = ABLE, tools = TOOLS, ...given }: Given = {}) {
  const seen: Seen = { now: { ...FIRST_SETTINGS, ask: { ...FIRST_SETTINGS.ask, ...ask } } };
  render(<Page seen={seen} model={model} tools={tools} {...given} />);
  return { seen, user: userEvent.setup(), sent: () => requestFields(seen.now.ask, model, tools) };
}

const describedBy = (element: Element): string =>
  (element.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .map((id) => document.getElementById(id)?.textContent)
    .join(" ");

describe("effort", () => {
  it("is chosen and sent", async () => {
    const { user, sent } = panel();
    await user.click(screen.getByRole("radio", { name: "High" }));
    expect(sent()).toEqual({ reasoning: { effort: "high" } });
    await user.click(screen.getByRole("radio", { name: "Auto" }));
    expect(sent()).toEqual({});
  });

  it("is disabled for a model without reasoning, with the reason", () => {
    panel({ model: UNABLE, ask: { effort: "high" } });
    const group = screen.getByRole("group", { name: "Reasoning effort" });
    expect((within(group).getByRole("radio", { name: "High" }) as HTMLInputElement).matches(":disabled")).toBe(true);
    expect(describedBy(group)).toBe("This model has no reasoning effort setting, so High is not used.");
  });
});

describe("tools", () => {
  it("are switched off by name, and an unavailable one has its reason", async () => {
    const { user, sent } = panel();
    const unavailable = screen.getByRole("switch", { name: "Brave search" });
    expect(unavailable.getAttribute("aria-disabled") ?? unavailable.getAttribute("disabled")).not.toBeNull();
    expect(unavailable.getAttribute("aria-checked")).toBe("false");
    expect(describedBy(unavailable)).toContain("BRAVE_API_KEY is not set.");
    expect(sent()).toEqual({});
    await user.click(screen.getByRole("switch", { name: "Search" }));
    expect(sent()).toEqual({ tools: [] });
    await user.click(screen.getByRole("switch", { name: "Search" }));
    expect(sent()).toEqual({});
  });

  it("that work on files have one switch, which is on at first", async () => {
    const { user, sent } = panel({ tools: [...TOOLS, aFileTool("create_file"), aFileTool("edit_file")] });
    expect(sent()).toEqual({ tools: ["web_search", "create_file", "edit_file"], previews: true });
    expect(screen.queryByRole("switch", { name: "Create file" })).toBeNull();
    await user.click(screen.getByRole("switch", { name: "Files" }));
    expect(sent()).toEqual({});
  });

  it("are disabled for a model without tool support", async () => {
    const { user, seen } = panel({ model: UNABLE });
    const search = screen.getByRole("switch", { name: "Search" });
    expect(search.getAttribute("aria-checked")).toBe("false");
    expect(describedBy(search)).toContain("This model cannot use tools");
    await user.click(search);
    expect(seen.now.ask.toolsOff).toEqual([]);
  });

  it("show the error if their list failed to load", () => {
    panel({ tools: [], toolsTrouble: "Signalbox is not responding." });
    expect(screen.getByText("Signalbox is not responding.")).toBeTruthy();
  });
});

describe("parameters", () => {
  it("are those that the model supports, and nothing is sent until one is set", async () => {
    const { user, sent } = panel();
    expect(screen.getAllByRole("textbox").map((field) => field.getAttribute("placeholder"))).toHaveLength(7);
    expect(screen.queryByRole("textbox", { name: "Top K" })).toBeNull();
    expect(sent()).toEqual({});
    await user.type(screen.getByRole("textbox", { name: "Temperature" }), "0,35");
    expect(sent()).toEqual({ temperature: 0.35 });
    await user.click(screen.getByRole("button", { name: "Reset Temperature" }));
    expect(sent()).toEqual({});
    expect((screen.getByRole("textbox", { name: "Temperature" }) as HTMLInputElement).value).toBe("");
  });

  it("a number out of range is clamped on blur, and invalid text is ignored", async () => {
    const { user, sent } = panel();
    const field = screen.getByRole("textbox", { name: "Temperature" }) as HTMLInputElement;
    await user.type(field, "25{Tab}");
    expect(sent()).toEqual({ temperature: 2 });
    expect(field.value).toBe("2");
    await user.clear(field);
    await user.type(field, "hot{Tab}");
    expect(sent()).toEqual({});
    expect(field.value).toBe("");
  });

  it("an unset limit shows the server's default", () => {
    const { rerender } = render(<SettingsPanel {...props()} />);
    const rests = () =>
      ["Step limit", "Search limit"].map((name) => {
        const slider = screen.getByRole<HTMLInputElement>("slider", { name: new RegExp(name) });
        return [slider.getAttribute("aria-valuenow") ?? slider.value, slider.getAttribute("aria-valuetext")];
      });
    expect(rests()).toEqual([
      ["8", "default"],
      ["6", "default"],
    ]);
    rerender(<SettingsPanel {...props()} defaults={{ max_steps: 12, max_searches: 10 }} />);
    expect(rests()).toEqual([
      ["12", "default"],
      ["10", "default"],
    ]);
  });

  it("a slider sets it too", () => {
    const { sent } = panel();
    const slider = screen.getByRole("slider", { name: /Top P/ });
    expect(slider.getAttribute("aria-valuetext")).toBe("default");
    fireEvent.keyDown(slider, { key: "ArrowLeft" });
    expect(sent()).toEqual({ top_p: 0.99 });
  });

  it("that are set but not supported are listed, and not sent", async () => {
    const { user, seen, sent } = panel({ model: UNABLE, ask: { parameters: { temperature: 0.5, top_p: 0.9 } } });
    expect(screen.getByText("Temperature 0.5: not supported by this model, so not used.")).toBeTruthy();
    expect(sent()).toEqual({ top_p: 0.9 });
    await user.click(screen.getByRole("button", { name: "Reset Temperature" }));
    expect(seen.now.ask.parameters).toEqual({ top_p: 0.9 });
    expect(screen.queryByText(/not supported by this model/)).toBeNull();
  });

  it("are all shown if the model's abilities are unknown", () => {
    panel({ model: aModel("a/silent", { parameters: [] }) });
    expect(document.querySelectorAll("[data-part='parameter']")).toHaveLength(11);
  });
});

describe("the system prompt", () => {
  it("shows its size and the variables without a value", async () => {
    const { user, seen } = panel();
    const box = screen.getByRole("textbox", { name: "System prompt" }) as HTMLTextAreaElement;
    fireEvent.change(box, { target: { value: "On {{date}}: help {{name}}." } });
    expect(seen.now.ask.system).toBe("On {{date}}: help {{name}}.");
    expect(describedBy(box)).toContain("27 characters, about 7 tokens");
    expect(describedBy(box)).toContain("This variable has no value.");
    await user.click(screen.getByRole("button", { name: "{{name}}" }));
    expect(document.activeElement).toBe(box);
    expect(box.value.slice(box.selectionStart, box.selectionEnd)).toBe("{{name}}");
    fireEvent.change(box, { target: { value: "On {{date}} at {{time}}." } });
    expect(screen.queryByText(/has no value/)).toBeNull();
  });
});

describe("the page", () => {
  it("has a theme and a setting for reasoning panels", async () => {
    const { user, seen } = panel();
    await user.click(within(screen.getByRole("group", { name: "Theme" })).getByRole("radio", { name: "Dark" }));
    await user.click(
      within(screen.getByRole("group", { name: "Show reasoning" })).getByRole("radio", { name: "Closed" }),
    );
    expect([seen.now.theme, seen.now.reasoning]).toEqual(["dark", "closed"]);
  });

  it("shows the model's facts", () => {
    panel({ model: catalogue().find(({ id }) => id === "anthropic/claude-sonnet-4") });
    const details = document.querySelector("[data-part='model-details']")?.textContent ?? "";
    for (const fact of [
      "anthropic/claude-sonnet-4",
      "1M tokens",
      "at most 64k tokens",
      "$3 input, $15 output",
      "temperature",
    ])
      expect(details).toContain(fact);
  });
});

describe("tool choice and response format", () => {
  it("are set, sent and reset one by one", async () => {
    const { user, sent } = panel({ model: aModel("a/able", { parameters: ["tools", "response_format"] }) });
    await user.selectOptions(screen.getByRole("combobox", { name: "Tool choice" }), "Required");
    await user.selectOptions(screen.getByRole("combobox", { name: "Response format" }), "Text");
    expect(sent()).toEqual({ tool_choice: "required", response_format: { type: "text" } });
    await user.click(screen.getByRole("button", { name: "Reset Tool choice" }));
    await user.click(screen.getByRole("button", { name: "Reset Response format" }));
    expect(sent()).toEqual({});
    expect(screen.queryByRole("button", { name: /^Reset (Tool|Response)/ })).toBeNull();
  });

  it("give the reason if a setting is not sent", () => {
    panel({ model: UNABLE, ask: { toolChoice: "none", format: { kind: "json", schema: "" } } });
    expect(describedBy(screen.getByRole("combobox", { name: "Tool choice" }))).toContain("cannot use tools");
    expect(describedBy(screen.getByRole("combobox", { name: "Response format" }))).toContain(
      "does not support response formats",
    );
  });

  it("mark an invalid schema at its field", () => {
    panel({ ask: { format: { kind: "schema", schema: '{"type": "strin"}' } } });
    const field = screen.getByRole("textbox", { name: "JSON schema" });
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(describedBy(field)).toContain('"strin", which is not a JSON type');
  });
});
