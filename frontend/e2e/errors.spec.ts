// Errors: each has its own box with a title, advice and buttons, outside the answer.
import {
  answer,
  ask,
  askRun,
  end,
  ended,
  expect,
  expectAccessible,
  journal,
  type Page,
  REFUSED,
  response,
  said,
  shown,
  test,
  useModel,
} from "./support/page.ts";

test.beforeEach(async ({ page }) => {
  await page.goto("/");
});

const box = (page: Page) => response(page).locator("[data-part=error]");

interface Case {
  model: string;
  code: string;
  status: string;
  /** The title in bold. */
  title: string;
  says: RegExp;
  /** The labels of the buttons. */
  fixes: string[];
  /** There was text before the error. */
  keeps?: true;
}

const CASES: Case[] = [
  {
    model: "sim-error-402",
    code: "UPSTREAM_CREDITS",
    title: "The account has too little credit for this request.",
    status: "error",
    says: /credit/,
    fixes: ["Add credits", "Choose another model"],
  },
  {
    model: "sim-error-401",
    code: "UPSTREAM_AUTH",
    title: "The provider rejected the server's API key.",
    status: "error",
    says: /Check OPENROUTER_API_KEY/,
    fixes: [],
  },
  {
    model: "sim-nonsense",
    code: "UPSTREAM_NOT_FOUND",
    title: "The provider cannot find this model.",
    status: "error",
    says: /Choose a model from the list/,
    fixes: ["Choose a model"],
  },
  {
    model: "sim-midstream-error",
    code: "UPSTREAM_OVERLOADED",
    title: "The provider is overloaded.",
    status: "error",
    says: /The answer so far is saved/,
    fixes: ["Continue", "Retry", "Choose another model"],
    keeps: true,
  },
  {
    model: "sim-cut",
    code: "STREAM_CUT",
    title: "The answer broke off before it was complete.",
    status: "interrupted",
    says: /The answer so far is saved/,
    fixes: ["Continue", "Retry"],
    keeps: true,
  },
  {
    model: "sim-filter",
    code: "CONTENT_FILTER",
    title: "The answer was withheld by a content filter.",
    status: "content_filter",
    says: /Rephrase/,
    fixes: ["Choose another model"],
    keeps: true,
  },
  {
    model: "sim-length",
    code: "LENGTH",
    title: "The answer reached its length limit.",
    status: "length",
    says: /Continue the answer/,
    fixes: ["Continue"],
    keeps: true,
  },
];

for (const { model, code, title, status, says, fixes, keeps } of CASES) {
  test(`${code} has its own box with next steps`, async ({ page }) => {
    await useModel(page, `openai/${model}`);
    const runId = await askRun(page, "What is a run?");
    await ended(page, status);
    await expect(box(page)).toHaveCount(1);
    await expect(box(page)).toHaveAttribute("data-code", code);
    await expect(box(page).getByRole("alert")).toContainText(says);
    await expect(box(page)).toContainText(says);
    await expect(box(page)).toContainText("It was simulated, so nothing was charged.");
    expect(await box(page).getByRole("button").or(box(page).getByRole("link")).allTextContents()).toEqual(fixes);

    const { error } = (await journal(page, runId)).at(-1) as { error: string };
    const alert = box(page).getByRole("alert");
    await expect(alert.locator("p").first()).toHaveText(title);
    const [, quoted] = error.split(" said: ");
    const quote = box(page).locator("[data-part=quote] blockquote");
    await expect(quote).toHaveText(quoted ? [quoted] : []);
    if (quoted) await expect(alert).not.toContainText(quoted);
    // If the box offers no Retry, there is no Regenerate button. A limit is not shown as a failure.
    await expect(response(page).getByRole("button", { name: "Retry" })).toHaveCount(fixes.includes("Retry") ? 1 : 0);
    await expect(end(page).locator(`[data-lamp=${code === "LENGTH" ? "cut" : "failed"}]`)).toHaveCount(1);
    if (!keeps) await expect(answer(page)).toHaveCount(0);
    else {
      await expect(answer(page).last()).toContainText(/\w+ \w+ \w+/);
      await expect(answer(page).last()).not.toContainText(error);
      expect(await shown(page)).toBe(await said(page, runId));
    }
    // A warning that only repeats the error is not shown.
    await expect(response(page).locator(`[data-part=warning][data-code=${code}]`)).toHaveCount(0);
    if (fixes.includes("Add credits")) {
      const link = box(page).getByRole("link", { name: "Add credits" });
      await expect(link).toHaveAttribute("href", "https://openrouter.ai/settings/credits");
      await expect(link).toHaveAttribute("rel", "noopener noreferrer");
      await expectAccessible(page);
    }
  });
}

test("a rate limit shows how long to wait, and the button counts down", async ({ page }) => {
  await useModel(page, "openai/sim-error-429");
  await ask(page, "What is a run?");
  await ended(page, "error");
  await expect(box(page)).toContainText(/Wait \d+ seconds?, then retry\./);
  await expect(box(page).getByRole("button", { name: /^Retry in \d+ s$/ })).toBeDisabled();
  // A screen reader reads an alert again whenever it changes.
  await expect(box(page).getByRole("alert")).not.toContainText("Retry in");
  const again = box(page).getByRole("button", { name: "Retry", exact: true });
  await expect(again).toBeEnabled();
  await useModel(page, "openai/sim");
  await again.click();
  await ended(page);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  await expect(box(page)).toHaveCount(0);
});

test("a model that declines is no failure", async ({ page }) => {
  await useModel(page, "openai/sim-refusal");
  await ask(page, "What is a run?");
  await ended(page, "content_filter");
  // Shown once, at the end.
  await expect(end(page)).toContainText("Declined by the model");
  await expect(response(page).getByText(/declined/i)).toHaveCount(1);
  await expect(box(page)).toHaveCount(0);
  await expect(response(page).locator("[data-part=warning]")).toHaveCount(0);
});

test("a rejected request shows the reason, and another model answers the same message", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await useModel(page, "no-such/model");
  await ask(page, "What is a run?");
  await expect(box(page)).toHaveAttribute("data-code", "UNKNOWN_MODEL");
  await expect(box(page)).toContainText("There is no model called “no-such/model”.");
  await expect(box(page)).not.toContainText("/api/models");
  await expect(response(page).getByRole("button", { name: "Retry" })).toHaveCount(0);
  await expect(box(page)).toContainText("Your message is still here.");
  await expectAccessible(page);

  const posted = page.waitForRequest("**/api/chat/stream");
  await box(page).getByRole("button", { name: "Choose a model" }).click();
  await page.getByRole("combobox", { name: "Model for the new answer" }).fill("openai/sim");
  await page.locator('[role=option][data-model="openai/sim"]').click();
  expect((await posted).postDataJSON()).toMatchObject({ model: "openai/sim" });
  await ended(page);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  await expect(page.locator("[data-part=question]")).toContainText("What is a run?");
});

test("a retry after an error is a second version, and the first is kept", async ({ page }) => {
  await useModel(page, "openai/sim-midstream-error");
  await ask(page, "What is a run?");
  await ended(page, "error");
  const kept = await shown(page);
  await useModel(page, "openai/sim");
  await box(page).getByRole("button", { name: "Retry" }).click();
  await ended(page);
  const versions = page.getByRole("group", { name: "Versions of the answer" });
  await expect(versions).toContainText(/2\D+2/);
  await versions.getByRole("button", { name: "Previous version" }).click();
  await expect(end(page)).toHaveAttribute("data-status", "error");
  expect(await shown(page)).toBe(kept);
});
