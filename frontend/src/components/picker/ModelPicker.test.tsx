// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { aModel, catalogue } from "../../fixtures/catalogue.ts";
import { ComparePicker } from "./ComparePicker.tsx";
import { ModelPicker } from "./ModelPicker.tsx";

const MODELS = catalogue(20);

// jsdom has no layout, so nothing can be scrolled to.
beforeAll(() => {
  Element.prototype.scrollIntoView = vi.fn();
});
afterEach(cleanup);

interface Given {
  value?: string;
  recent?: readonly string[];
  starred?: readonly string[];
  simulated?: boolean;
  models?: typeof MODELS;
}

function Picker({
  value = "openai/gpt-4o",
  recent = [],
  simulated = false,
  ...given
}: Given & { onChange: () => void }) {
  const [starred, setStarred] = useState(given.starred ?? []);
  return (
    <ModelPicker
      models={given.models ?? MODELS}
      value={value}
      onChange={given.onChange}
      recent={recent}
      starred={starred}
      onStar={(id) => setStarred(starred.includes(id) ? starred.filter((one) => one !== id) : [...starred, id])}
      simulated={simulated}
    />
  );
}

/** The open list, and what was chosen in it. */
async function opened(given: Given = {}) {
  const onChange = vi.fn();
  const user = userEvent.setup();
  render(<Picker {...given} onChange={onChange} />);
  await user.click(screen.getByRole("button", { name: /^Model: / }));
  const field = await screen.findByRole("combobox", { name: "Model" });
  await waitFor(() => expect(document.activeElement).toBe(field));
  return { onChange, user, field };
}

/** Queries the DOM directly: computing the roles of 354 rows takes jsdom seconds. */
const options = () => [...document.querySelectorAll<HTMLElement>("[role='option']")];
const status = () => document.querySelector("[role='status']")?.textContent;
const active = () => options().filter((row) => row.dataset.active === "true");
const activeName = () => active()[0]?.textContent ?? "";

describe("the upstreams of a model", () => {
  const models = [...MODELS, aModel("acme/own", { upstreams: ["local", "openrouter"] })];

  it("are in its row, in the order of fallback, if the server has several", async () => {
    await opened({ models });
    const rows = new Map(options().map((row) => [row.dataset.model, row.querySelector("[data-part=upstreams]")]));
    expect(rows.get("acme/own")?.textContent).toBe("via local, openrouter");
    expect(rows.get("openai/gpt-4o-mini")).toBeNull();
  });

  it("can be searched for", async () => {
    const { user } = await opened({ models });
    await user.keyboard("local");
    expect(options()[0]?.dataset.model).toBe("acme/own");
  });
});

describe("the button", () => {
  it("shows the model, listed or not, or asks for one", () => {
    const { rerender } = render(<Picker onChange={vi.fn()} />);
    expect(screen.getByRole("button", { name: "Model: GPT-4o" }).textContent).toBe("GPT-4o");
    rerender(<Picker value="own/model" onChange={vi.fn()} />);
    const gone = screen.getByRole("button", { name: "Model: own/model Not listed" });
    expect(gone.querySelector("[data-part=unlisted]")).not.toBeNull();
    rerender(<Picker value="openai/gpt-4o:nitro" onChange={vi.fn()} />);
    expect(screen.getByRole("button", { name: "Model: openai/gpt-4o:nitro" })).toBeTruthy();
    rerender(<Picker value="own/model" models={[]} onChange={vi.fn()} />);
    expect(screen.getByRole("button", { name: "Model: own/model" })).toBeTruthy();
    rerender(<Picker value="" onChange={vi.fn()} />);
    expect(screen.getByRole("button", { name: "Model: Choose a model" })).toBeTruthy();
  });
});

describe("a model that is no longer listed", () => {
  const note = () => document.querySelector("[data-part=unlisted-note]")?.textContent;

  it("has a note above the list and a mark in its row", async () => {
    await opened({ value: "own/gone", recent: ["own/gone"] });
    expect(note()).toBe("own/gone is not in the model list and may no longer be available. Choose another model.");
    expect(options()[0]?.textContent).toContain("Not in the model list");
  });

  it("is not marked while it is listed or there is no list", async () => {
    await opened({ recent: ["openai/gpt-4o"] });
    expect(note()).toBeUndefined();
    cleanup();
    await opened({ value: "own/gone", recent: ["own/gone"], models: [] });
    expect([note(), options()[0]?.textContent]).toEqual([undefined, "own/goneown/gone"]);
  });
});

describe("by keyboard", () => {
  it("typing searches, Enter chooses, and the focus returns to the button", async () => {
    const { onChange, user, field } = await opened();
    await user.keyboard("gpt4o mini");
    expect(active()).toHaveLength(1);
    expect(field.getAttribute("aria-activedescendant")).toBe(active()[0]?.id);
    expect(activeName()).toContain("openai/gpt-4o-mini");
    await user.keyboard("{Enter}");
    expect(onChange.mock.calls).toEqual([["openai/gpt-4o-mini"]]);
    expect(screen.queryByRole("listbox")).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("button", { name: /^Model: / })));
  });

  it("arrow keys, Home and End move", async () => {
    const { user } = await opened({ recent: ["openai/o4-mini", "openai/gpt-4o", "qwen/chat-only"] });
    expect(activeName()).toContain("openai/gpt-4o");
    await user.keyboard("{ArrowDown}");
    expect(activeName()).toContain("qwen/chat-only");
    await user.keyboard("{Home}");
    expect(activeName()).toContain("openai/o4-mini");
    await user.keyboard("{ArrowUp}");
    expect(active()[0]?.getAttribute("aria-posinset")).toBe("20");
    await user.keyboard("{ArrowDown}{End}");
    expect(active()[0]?.getAttribute("aria-posinset")).toBe("20");
  });

  it("Enter and Escape without typing keep the model", async () => {
    const { onChange, user } = await opened();
    await user.keyboard("{Enter}");
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.click(screen.getByRole("button", { name: /^Model: / }));
    await user.keyboard("sonnet{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(onChange).not.toHaveBeenCalled();
  });

  it("an unlisted id is accepted as typed", async () => {
    const { onChange, user } = await opened();
    await user.keyboard("openai/gpt-4o:nitro");
    expect(activeName()).toContain("Not in the list");
    await user.keyboard("{Enter}");
    expect(onChange.mock.calls).toEqual([["openai/gpt-4o:nitro"]]);
  });

  it("a partial id comes after the matches", async () => {
    const { user } = await opened();
    await user.keyboard("anthropic/claude-sonnet");
    expect(activeName()).toContain("anthropic/claude-sonnet-4");
    await user.keyboard("{End}");
    expect(activeName()).toContain("Not in the list");
  });

  it("Ctrl D stars the active row, as the button below does", async () => {
    const { user } = await opened();
    await user.keyboard("sonnet{Control>}d{/Control}");
    const star = screen.getByRole("button", { name: "Star Claude Sonnet 4" });
    expect(star.getAttribute("aria-pressed")).toBe("true");
    await user.click(star);
    expect(star.getAttribute("aria-pressed")).toBe("false");
  });
});

describe("the list", () => {
  it("renders enough rows to open at the current model, and starts over with a search", () => {
    const models = catalogue(354);
    const late = models.toSorted((a, b) => (a.name < b.name ? -1 : 1)).at(-1)?.id ?? "";
    render(<Picker models={models} value={late} onChange={vi.fn()} />);
    fireEvent.click(document.querySelector("[data-part='model']") as Element);
    const field = document.querySelector("[role='combobox']") as Element;
    expect(active().map((row) => row.dataset.model)).toEqual([late]);
    fireEvent.change(field, { target: { value: "i" } });
    expect(options()).toHaveLength(40);
    expect(active()[0]?.getAttribute("aria-posinset")).toBe("1");
    fireEvent.change(field, { target: { value: "" } });
    expect(active().map((row) => row.dataset.model)).toEqual([late]);
  });

  it("renders 40 of 354 rows, and more on scrolling", () => {
    render(<Picker models={catalogue(354)} value="" onChange={vi.fn()} />);
    fireEvent.click(document.querySelector("[data-part='model']") as Element);
    const field = document.querySelector("[role='combobox']") as Element;
    expect(options()).toHaveLength(40);
    expect(options()[0]?.getAttribute("aria-setsize")).toBe("354");
    expect(status()).toBe("354 models");
    fireEvent.keyDown(field, { key: "End" });
    expect(options()).toHaveLength(354);
    expect(active()[0]?.getAttribute("aria-posinset")).toBe("354");
    fireEvent.change(field, { target: { value: "i" } });
    expect(Number.parseInt(status() ?? "", 10)).toBeGreaterThan(40);
    expect(options()).toHaveLength(40);
  });

  it("filters show only models with all selected abilities", async () => {
    const { user } = await opened();
    await user.click(screen.getByRole("button", { name: "Free" }));
    const free = Number.parseInt(screen.getByRole("status").textContent ?? "", 10);
    expect(free).toBeLessThan(20);
    expect(options().every((row) => row.textContent?.includes("free"))).toBe(true);
    await user.click(screen.getByRole("button", { name: "Reasoning" }));
    expect(options().length).toBeLessThan(free);
    expect(options().every((row) => row.textContent?.includes("Reasoning"))).toBe(true);
    await user.click(screen.getByRole("button", { name: "Reasoning" }));
    await user.click(screen.getByRole("button", { name: "Free" }));
    expect(screen.getByRole("status").textContent).toBe("20 models");
  });

  it("a click chooses; a click on the star stars without moving the row", async () => {
    const { onChange, user } = await opened({ recent: ["openai/o4-mini"] });
    const row = screen.getByRole("option", { name: /openai\/o4-mini/ });
    const star = row.querySelector("[data-part='star']");
    if (!star) throw new Error("The row has no star");
    await user.click(star);
    expect(onChange).not.toHaveBeenCalled();
    expect(star.getAttribute("data-starred")).toBe("true");
    expect(options()[0]).toBe(row);
    await user.click(row);
    expect(onChange.mock.calls).toEqual([["openai/o4-mini"]]);
  });

  it("sections are in order", async () => {
    await opened({ starred: ["qwen/chat-only"], recent: ["openai/o4-mini"] });
    const groups = screen.getAllByRole("group", { name: /^(Starred|Recent|Anthropic)$/ });
    expect(groups.map((group) => group.getAttribute("aria-label"))).toEqual(["Starred", "Recent", "Anthropic"]);
    expect(within(groups[0] as HTMLElement).getAllByRole("option")).toHaveLength(1);
  });

  it("has accessible facts", async () => {
    const { user } = await opened();
    await user.keyboard("openai/gpt-4o-mini");
    expect(active()[0]?.textContent).toContain(
      "Tools, Images, 128k tokens, $0.15 · $0.60$0.15 input, $0.60 output, per million tokens",
    );
  });

  it("has a note if the simulator answers for every model", async () => {
    await opened({ simulated: true });
    expect(screen.getByText(/simulator answers in place of each model/)).toBeTruthy();
  });
});

describe("the models to compare", () => {
  const compare = (chosen: readonly string[]) => {
    const onChange = vi.fn();
    const rest = { recent: ["openai/gpt-4o"], starred: [], onStar: vi.fn(), simulated: false };
    render(<ComparePicker models={MODELS} chosen={chosen} onChange={onChange} {...rest} />);
    return { onChange, user: userEvent.setup() };
  };

  it("are added from the same list, which opens at the last one and marks all", async () => {
    const { onChange, user } = compare(["openai/gpt-4o"]);
    expect(screen.getByRole("status").textContent).toBe("Choose one more to compare.");
    await user.click(screen.getByRole("button", { name: "Add a model" }));
    await screen.findByRole("listbox");
    expect(activeName()).toContain("openai/gpt-4o");
    const marked = options().filter((row) => row.getAttribute("aria-selected") === "true");
    expect(marked.map((row) => row.dataset.model)).toEqual(["openai/gpt-4o"]);
    // A compared model is not added twice.
    await user.keyboard("{Enter}");
    expect(onChange).not.toHaveBeenCalled();
    await user.click(screen.getByRole("button", { name: "Add a model" }));
    await user.keyboard("sonnet{Enter}");
    expect(onChange.mock.calls).toEqual([[["openai/gpt-4o", "anthropic/claude-sonnet-4"]]]);
  });

  it("are changed in place", async () => {
    const { onChange, user } = compare(["openai/gpt-4o", "openai/o4-mini"]);
    await user.click(screen.getByRole("button", { name: "Change GPT-4o · OpenAI" }));
    await user.keyboard("sonnet{Enter}");
    expect(onChange.mock.calls).toEqual([[["anthropic/claude-sonnet-4", "openai/o4-mini"]]]);
  });

  it("are removed by their button, and are at most four", async () => {
    const { onChange, user } = compare(["openai/gpt-4o", "openai/gpt-4o-mini", "openai/o4-mini", "own/x"]);
    expect(screen.queryByRole("button", { name: "Add a model" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Remove x · own" }));
    expect(onChange.mock.calls).toEqual([[["openai/gpt-4o", "openai/gpt-4o-mini", "openai/o4-mini"]]]);
  });
});
