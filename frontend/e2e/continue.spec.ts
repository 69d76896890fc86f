// A continued answer: its texts join into one, also when copied and after a reload.
import {
  answer,
  ask,
  askRun,
  end,
  ended,
  expect,
  expectAccessible,
  type Page,
  REFUSED,
  response,
  stops,
  test,
  useModel,
} from "./support/page.ts";

test.beforeEach(async ({ page }) => {
  await page.goto("/");
});

/** The simulator's text (`simulator/model/continuation.py`). */
const DOCUMENT = `Three steps make a small cache.

\`\`\`python
def remember(key, value):
    cache[key] = value
    return value
\`\`\`

| step | cost |
|---|---|
| look up | 1 µs |
| compute | 20 ms |

- Keep the cache **small**.
- Forget what is old.`;

const goOn = (page: Page) => response(page).getByRole("button", { name: "Continue", exact: true });

/** Press Continue, and wait for the end of the continuation. */
async function continued(page: Page, status: string): Promise<void> {
  const answered = page.waitForResponse("**/api/chat/stream");
  await goOn(page).click();
  await (await answered).finished();
  await ended(page, status);
}

async function expectDocument(page: Page): Promise<void> {
  await expect(answer(page)).toHaveCount(1);
  await expect(answer(page).locator("pre")).toHaveCount(1);
  await expect(answer(page).locator("pre")).toContainText("cache[key] = value");
  await expect(answer(page).locator("tbody tr")).toHaveCount(2);
  await expect(answer(page).locator("tbody tr").last()).toContainText(/compute.*20 ms/);
  await expect(answer(page).locator("li")).toHaveCount(2);
  await expect(answer(page).locator("strong")).toHaveText("small");
}

for (const model of ["anthropic/sim-length-document", "openai/sim-length-repeat"]) {
  test(`${model}: an answer cut in code, a table and a list becomes one document`, async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await useModel(page, model);
    await ask(page, "Write it down");
    await ended(page, "length");
    await continued(page, "length");
    await continued(page, "length");
    await continued(page, "complete");
    await expectDocument(page);
    await expect(goOn(page)).toHaveCount(0);
    await expect(page.locator("[data-part=response]")).toHaveCount(1);

    await end(page).getByRole("button", { name: "Copy", exact: true }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(DOCUMENT);

    await page.reload();
    await ended(page);
    await expectDocument(page);
    await expectAccessible(page);
  });
}

test("each run keeps its figures and its details, and the answer shows the totals", async ({ page }) => {
  await useModel(page, "openai/sim-length");
  const first = await askRun(page, "What is a run?");
  await ended(page, "length");
  await continued(page, "complete");
  const runs = response(page).locator("[data-part=runs]");
  await runs.getByRole("button", { name: "Continued once" }).click();
  const tokens = async (text: Promise<string | null>) =>
    Number(/([\d,]+) tokens/.exec((await text) ?? "")?.[1]?.replaceAll(",", ""));
  const parts = runs.locator("[data-part=run]");
  await expect(parts.first()).toContainText("Length limit reached");
  const each = await Promise.all([tokens(parts.first().textContent()), tokens(parts.last().textContent())]);
  expect(await tokens(end(page).textContent())).toBe((each[0] ?? 0) + (each[1] ?? 0));
  const inspected = page.waitForRequest(`**/api/runs/${first}`);
  await runs.getByRole("button", { name: "Run details of part 1" }).click();
  await inspected;

  const details = page.locator("[data-part=inspector]");
  const standing = details.locator("[data-part=standing]");
  const switching = details.getByRole("group", { name: "Parts of the answer" });
  await expect(switching).toContainText("Part 1 of 2");
  await expect(standing).toContainText("Length limit reached");
  await details.getByRole("tab", { name: "Events" }).click();
  const next = switching.getByRole("button", { name: "Next part" });
  await next.press("Enter");
  await expect(switching).toContainText("Part 2 of 2");
  await expect(standing).toContainText("Complete");
  await expect(next).toBeFocused();
  await expect(details.getByRole("tab", { name: "Events" })).toHaveAttribute("aria-selected", "true");
  await expect(next).toHaveAttribute("aria-disabled", "true");
  await switching.getByRole("button", { name: "Previous part" }).click();
  await expect(standing).toContainText("Length limit reached");
});

test("open run details are updated by a continuation", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await useModel(page, "openai/sim-length");
  await ask(page, "What is a run?");
  await ended(page, "length");
  await end(page).getByRole("button", { name: "Run details" }).click();
  const switching = page.locator("[data-part=inspector]").getByRole("group", { name: "Parts of the answer" });
  await expect(page.locator("[data-part=inspector] [data-part=standing]")).toBeVisible();
  await expect(switching).toHaveCount(0);
  await continued(page, "complete");
  await expect(switching).toContainText("Part 1 of 2");
});

test("the next question follows the joined answer", async ({ page }) => {
  await useModel(page, "openai/sim-length");
  await ask(page, "What is a run?");
  await ended(page, "length");
  await continued(page, "complete");
  const shown = (await answer(page).textContent()) ?? "";
  const posted = page.waitForRequest("**/api/chat/stream");
  await ask(page, "Thanks!");
  const body = (await posted).postDataJSON();
  await expect(page.locator("[data-part=response]")).toHaveCount(2);
  await ended(page, "length");
  const conversation = await (await page.request.get(`/api/conversations/${body.conversation_id}`)).json();
  const before = conversation.messages.find(({ id }: { id: string }) => id === body.parent_id);
  expect(conversation.messages.find(({ id }: { id: string }) => id === before.parent_id).role).toBe("assistant");
  await page.reload();
  await expect(page.locator("[data-part=answer]").first()).toHaveText(shown);
});

test("a stopped answer can be continued, and the continuation stopped", async ({ page }) => {
  await useModel(page, "openai/sim-long-2000");
  await ask(page, "A long one");
  await expect(answer(page)).toContainText("long streams");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await ended(page, "cancelled");
  const length = ((await answer(page).textContent()) ?? "").length;
  await goOn(page).click();
  await expect.poll(async () => ((await answer(page).textContent()) ?? "").length).toBeGreaterThan(length + 100);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await ended(page, "cancelled");
  await expect(answer(page)).toHaveCount(1);
  await expect(goOn(page)).toBeVisible();
});

test("sources found before the cut keep their numbers", async ({ page }) => {
  await page.goto("/");
  await useModel(page, "openai/sim");
  await page.route("**/api/chat/stream", async (route) => {
    const body = route.request().postDataJSON();
    await route.continue({ postData: JSON.stringify(body.continue ? body : { ...body, max_tokens: 150 }) });
  });
  await ask(page, "How do tool calls stream?");
  await ended(page, "length");
  await continued(page, "complete");
  await expect(stops(page, "search")).toHaveCount(1);
  await expect(answer(page)).toHaveCount(1);
  const marks = await response(page).locator("[data-part=cite]").allTextContents();
  expect(marks.length).toBeGreaterThan(1);
  expect(new Set(marks).size).toBe(marks.length);
});

test("Regenerate answers the whole message again, beside the continued answer", async ({ page }) => {
  await useModel(page, "openai/sim-length");
  await ask(page, "What is a run?");
  await ended(page, "length");
  await continued(page, "complete");
  const whole = (await answer(page).textContent()) ?? "";
  await response(page).getByRole("button", { name: "Regenerate" }).click();
  await ended(page, "length");
  const versions = page.getByRole("group", { name: "Versions of the answer" });
  await expect(versions).toHaveText("2/ of 2");
  await versions.getByRole("button", { name: "Previous version" }).click();
  await expect(answer(page)).toHaveText(whole);
});

test("a limit set by the user is named, and Raise limit opens its setting", async ({ page }) => {
  await useModel(page, "openai/sim");
  await page.getByRole("button", { name: /^Settings/ }).click();
  const field = page.getByRole("textbox", { name: "Maximum answer length" });
  await field.fill("40");
  await page.keyboard.press("Escape");
  await ask(page, "Who are you?");
  await ended(page, "length");
  const box = response(page).locator("[data-part=error]");
  await expect(box).toContainText("“Maximum answer length” is set to 40 in your settings.");
  await box.getByRole("button", { name: "Raise limit" }).click();
  await expect(field).toBeFocused();
  expect(await field.evaluate((one: HTMLInputElement) => one.value.slice(one.selectionStart ?? 0))).toBe("40");
  await page.keyboard.type("2000");
  await page.keyboard.press("Escape");
  // After a change of the setting, the box still gives the limit of this answer's request, also after a reload.
  for (const look of [async () => undefined, () => page.reload()]) {
    await look();
    await expect(box).toContainText("“Maximum answer length” was set to 40 for this answer. It is now set to 2,000.");
    await expect(box.getByRole("button", { name: "Raise limit" })).toHaveCount(0);
  }
  await continued(page, "complete");
  await expect(answer(page)).toContainText("I know no facts");
});

test("a limit that the user did not set has no button", async ({ page }) => {
  await useModel(page, "openai/sim-length");
  await ask(page, "What is a run?");
  await ended(page, "length");
  await expect(response(page).getByRole("button", { name: "Raise limit" })).toHaveCount(0);
  await expect(goOn(page)).toBeVisible();
});

test("an unknown model is named, and a chosen one answers the message", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await useModel(page, "acme/gpt-none");
  await ask(page, "What time is it in Tokyo?");
  const box = response(page).locator("[data-part=error]");
  await expect(box).toContainText("acme/gpt-none");
  await expect(box).toContainText("Choose a model from the list.");
  await box.getByRole("button", { name: "Choose a model" }).click();
  await page.getByRole("combobox", { name: "Model for the new answer" }).fill("openai/sim");
  await page.locator('[role=option][data-model="openai/sim"]').click();
  await ended(page);
  await expect(answer(page).last()).toContainText("Tokyo");
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", "openai/sim");
});

test("a saved copy has the whole answer, even if its conversation is deleted", async ({ page }) => {
  await useModel(page, "anthropic/sim-length-document");
  await ask(page, "Write it down");
  await ended(page, "length");
  await continued(page, "length");
  await continued(page, "length");
  await continued(page, "complete");
  const saving = page.waitForResponse((one) => one.url().endsWith("/api/saves") && one.request().method() === "POST");
  await end(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem").last().click();
  const { id } = await (await saving).json();
  const [, conversation] = page.url().split("#c=");
  expect((await page.request.delete(`/api/conversations/${conversation}`)).ok()).toBe(true);
  await page.goto(`/#save=${id}`);
  await ended(page);
  await expectDocument(page);
  await expect(page.locator("[data-part=question]")).toHaveText("Write it down");
  await response(page).getByRole("button", { name: "Continued 3 times" }).click();
  await expect(response(page).locator("[data-part=run]")).toHaveCount(4);
  await expectAccessible(page);
});

test("a continuation that a reload interrupted before it had an id is requested once", async ({ page }) => {
  await useModel(page, "openai/sim-length");
  await ask(page, "What is a run?");
  await ended(page, "length");
  const keys: (string | undefined)[] = [];
  let held = true;
  await page.route("**/api/chat/stream", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (held) return; // the first request never gets a response
    await route.continue();
  });
  await goOn(page).click();
  await expect.poll(() => keys.length).toBe(1);
  held = false;
  await page.reload();
  await ended(page);
  await expect(answer(page)).toHaveCount(1);
  await expect(response(page).getByRole("button", { name: "Continued once" })).toBeVisible();
  expect(keys).toEqual([keys[0], keys[0]]);
  await page.reload();
  await ended(page);
  expect(keys).toHaveLength(2);
  await expect(page.locator("[data-part=response]")).toHaveCount(1);
});

test("Continue while offline waits until the connection is back", async ({ page, context, faults }) => {
  faults.allow(REFUSED);
  await useModel(page, "openai/sim-length");
  await ask(page, "What is a run?");
  await ended(page, "length");
  await context.setOffline(true);
  await goOn(page).click();
  await expect(response(page)).toContainText("You're offline. The answer will continue when you're back online.");
  await context.setOffline(false);
  await ended(page);
  await expect(answer(page)).toHaveCount(1);
});

test("the page of a continuation links to the run that it continues", async ({ page }) => {
  await useModel(page, "openai/sim-length");
  const first = await askRun(page, "What is a run?");
  await ended(page, "length");
  const posted = page.waitForResponse("**/api/chat/stream");
  await goOn(page).click();
  const second = (await posted).headers()["x-run-id"];
  await ended(page);
  await page.goto(`/#run=${second}`);
  await ended(page);
  const words = (await answer(page).textContent()) ?? "";
  await page.getByRole("link", { name: "an earlier run" }).click();
  await expect(response(page)).toHaveAttribute("data-run", first);
  await ended(page, "length");
  await expect(answer(page)).not.toHaveText(words);
  await expect(page.getByRole("link", { name: "an earlier run" })).toHaveCount(0);
});

test("an answer that another tab is already continuing shows that continuation", async ({ page, context, faults }) => {
  faults.allow(REFUSED);
  await useModel(page, "openai/sim-long-20000");
  await ask(page, "A long one");
  await expect(answer(page)).toContainText("long streams");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await ended(page, "cancelled");
  const other = await context.newPage();
  // This tab receives no messages from the other one.
  await other.addInitScript(() => Object.defineProperty(window, "BroadcastChannel", { value: undefined }));
  await other.goto(page.url());
  await ended(other, "cancelled");
  const cut = ((await answer(other).textContent()) ?? "").length;

  await goOn(page).click();
  await expect.poll(async () => ((await answer(page).textContent()) ?? "").length).toBeGreaterThan(cut + 100);
  const refused = other.waitForResponse("**/api/chat/stream");
  await goOn(other).click();
  expect((await refused).status()).toBe(409);
  await expect.poll(async () => ((await answer(other).textContent()) ?? "").length).toBeGreaterThan(cut + 100);
  await other.getByRole("button", { name: "Stop", exact: true }).click();
  for (const tab of [page, other]) {
    await ended(tab, "cancelled");
    await expect(answer(tab)).toHaveCount(1);
    await expect(response(tab).locator("[data-part=error]")).toHaveCount(0);
    await expect(response(tab).getByRole("button", { name: "Continued once" })).toBeVisible();
  }
});
