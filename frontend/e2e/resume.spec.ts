// Connection losses and reloads in a real browser: no gaps, no repetitions.
import { deflateSync } from "node:zlib";
import { askLong, connection, expectWhole, stop } from "./support/longAnswers.ts";
import {
  answer,
  ask,
  askRun,
  end,
  ended,
  expect,
  journal,
  message,
  REFUSED,
  response,
  said,
  shown,
  stops,
  test,
  useModel,
  waitForText,
} from "./support/page.ts";
import { openWire, type Wire } from "./support/wire.ts";

test.describe("a connection loss", () => {
  let wire: Wire;
  test.beforeEach(async ({ page, baseURL, faults }) => {
    faults.allow(/console: Failed to load resource: net::ERR_/);
    wire = await openWire(baseURL ?? "");
    await page.goto(wire.url);
  });
  test.afterEach(() => wire.close());

  test("is resumed silently if that is quick, and the answer is complete", async ({ page }) => {
    const words: string[] = [];
    await page.exposeFunction("told", (text: string) => words.push(text));
    await page.evaluate(() => {
      const look = () => {
        const told = document.querySelector("[data-kind=connection]")?.textContent;
        if (told) (window as unknown as { told: (text: string) => void }).told(told);
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    const runId = await askLong(page, 500);
    const resumed = page.waitForRequest(/\/api\/runs\/\w+\/events$/);
    wire.cut();
    expect((await resumed).headers()["last-event-id"]).toMatch(/^\w+:\d+$/);
    await expectWhole(page, runId);
    expect(words).toEqual([]);
    await expect(page.getByRole("alert")).toHaveCount(0);
  });

  test("is shown if it takes long, until the connection is back", async ({ page }) => {
    const runId = await askLong(page, 500);
    const before = await shown(page);
    wire.down();
    await expect(connection(page)).toHaveText(/Connection lost\. Reconnecting…/);
    expect((await shown(page)).startsWith(before)).toBe(true);
    await page.waitForTimeout(2000);
    wire.up();
    await expect(connection(page)).toHaveCount(0);
    await expectWhole(page, runId);
    await expect(page.getByRole("alert")).toHaveCount(0);
  });

  test("before the run has an id: it is started once", async ({ page }) => {
    const runs = async (): Promise<string[]> => {
      const { runs: last } = await (await page.request.get(`/api/runs?limit=20`)).json();
      return last.map((run: { run_id: string }) => run.run_id);
    };
    const before = await runs();
    const asked = page.waitForRequest("**/api/chat/stream");
    const held = wire.holdBefore("x-run-id: ");
    await ask(page, "What time is it in Tokyo?");
    await Promise.all([asked, held]);
    // The browser or the page retries under the same key.
    wire.cut();
    await ended(page);
    expect((await runs()).filter((id) => !before.includes(id))).toHaveLength(1);
    await expect(page.locator("[data-part=question]")).toHaveCount(1);
  });
});

test("a message whose response got lost is executed once", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await page.goto("/");
  const keys: (string | undefined)[] = [];
  const ids: (string | undefined)[] = [];
  await page.route("**/api/chat/stream", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 2) return route.continue();
    // The first request never arrives. The second arrives, but its response is lost.
    if (keys.length === 2) {
      const { headers, method, data } = {
        headers: route.request().headers(),
        method: "POST",
        data: route.request().postData() ?? "",
      };
      ids.push((await page.request.fetch(route.request().url(), { headers, method, data })).headers()["x-run-id"]);
    }
    await route.abort("connectionreset");
  });
  ids.push(await askRun(page, "What time is it in Tokyo?"));
  await ended(page);
  expect(keys.length).toBe(3);
  expect(new Set(keys).size).toBe(1);
  expect(ids[0]).toBeTruthy();
  expect(new Set(ids).size).toBe(1);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test.describe("a reload", () => {
  let stopped: string[];
  test.beforeEach(async ({ page }) => {
    stopped = [];
    page.on("request", (request) => request.url().endsWith("/stop") && stopped.push(request.url()));
  });

  test("during an answer shows the whole answer", async ({ page }) => {
    await page.goto("/");
    const runId = await askLong(page, 200);
    await page.reload();
    await expect(page.locator("[data-part=question]")).toContainText("A long answer, please.");
    await expectWhole(page, runId);
    await page.reload();
    await expectWhole(page, runId);
    expect(stopped).toEqual([]);
  });

  test("during a search and before the first event continues the answer", async ({ page, baseURL }) => {
    const wire = await openWire(baseURL ?? "");
    await page.goto(wire.url);
    await useModel(page, "openai/sim");
    let posts = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/api/chat/stream")) posts += 1;
    });
    for (const words of ['"type":"tool_result"', '"type":"reasoning"']) {
      const held = wire.holdBefore(words);
      const runId = await askRun(page, "What is a run? Search for it.");
      await held;
      void wire.release();
      await page.reload();
      await expectWhole(page, runId);
      await expect(stops(page, "search")).toHaveCount(1);
      await expect(stops(page, "reasoning")).toHaveCount(2);
    }
    expect(posts).toBe(2);
    expect(stopped).toEqual([]);
    wire.close();
  });

  test("before the response sends the message once", async ({ page, faults }) => {
    // The server does not know the conversation yet.
    faults.allow(/status of 404 .*\/api\/conversations\//);
    await page.goto("/");
    const keys: (string | undefined)[] = [];
    let ids = 0;
    await page.route("**/api/chat/stream", async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      // The first request never gets a response.
      if (keys.length > 1) await route.continue();
    });
    page.on("response", (answered) => {
      if (answered.url().endsWith("/api/chat/stream")) ids += 1;
    });
    await ask(page, "What time is it in Tokyo?");
    await expect.poll(() => keys.length).toBe(1);
    await page.reload();
    await ended(page);
    await expect(page.locator("[data-part=question]")).toHaveCount(1);
    expect(new Set(keys).size).toBe(1);
    expect(ids).toBe(1);
  });

  test("keeps the queue, the draft and its image, and the answer can be stopped", async ({ page }) => {
    await page.goto("/");
    const runId = await askLong(page, 3000);
    await ask(page, "This waits.");
    await message(page).fill("This is being written.");
    const picture = { name: "dot.png", mimeType: "image/png", buffer: pngOfOneDot() };
    await page.locator("[data-part=picture-input]").setInputFiles(picture);
    await expect(page.locator("[data-part=composer] [data-part=picture]")).toHaveCount(1);
    await page.reload();
    await expect(page.getByRole("region", { name: "Queued messages" })).toContainText("This waits.");
    await expect(message(page)).toHaveValue("This is being written.");
    await expect(page.locator("[data-part=composer] [data-part=picture] img")).toHaveCount(1);
    await waitForText(page);
    await stop(page).click();
    await ended(page, "cancelled");
    expect((await journal(page, runId)).at(-1)).toMatchObject({ status: "cancelled" });
    expect(await shown(page)).toBe(await said(page, runId));
  });
});

test("an unknown run is reported", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await page.goto("/#run=00000000000000000000000000000000");
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(stop(page)).toHaveCount(0);
});

test("a saved copy reopens with its message, its panels and its details", async ({ page }) => {
  await page.goto("/");
  const runId = await askRun(page, "What is a run? Search for it.");
  await ended(page);
  await end(page).getByRole("button", { name: "More", exact: true }).click();
  const kept = page.waitForResponse((answered) => answered.url().endsWith("/api/saves"));
  await page.getByRole("menuitem", { name: "Save", exact: true }).click();
  const { id } = (await (await kept).json()) as { id: string };
  await expect(page.getByText("Saved. Find it under Saved in the sidebar.")).toBeVisible();

  await page.goto(`/#save=${id}`);
  await ended(page);
  await expect(page.locator("[data-part=question]")).toContainText("What is a run?");
  expect(await shown(page)).toBe(await said(page, runId));
  await expect(stops(page, "search")).toHaveCount(1);
  await expect(stops(page, "reasoning")).toHaveCount(2);
  await expect(message(page)).toHaveCount(0);
  await end(page).getByRole("button", { name: "Run details" }).click();
  await expect(page.locator("[data-part=inspector] [data-part=row]", { hasText: "Web search" }).first()).toBeVisible();
  await expect(response(page).locator("[data-part=error]")).toHaveCount(0);
  await expect(answer(page).last()).toBeVisible();
});

test("the browser's EventSource receives every frame once over a connection loss", async ({
  page,
  baseURL,
  faults,
}) => {
  faults.allow(/console: Failed to load resource: net::ERR_/);
  const wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  const runId = await askLong(page, 100);
  const follows = page.evaluate(
    (path) =>
      new Promise<string[]>((resolve) => {
        const heard: string[] = [];
        const source = new EventSource(path);
        source.onmessage = ({ data }) => heard.push(data);
        // It reconnects automatically, and stops at the 204 after all events.
        source.onerror = () => source.readyState === EventSource.CLOSED && resolve(heard);
        Object.assign(window, { heard });
      }),
    `/api/runs/${runId}/events`,
  );
  const count = () => page.evaluate(() => (window as unknown as { heard: object[] }).heard.length);
  for (const least of [3, 20]) {
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(least);
    const again = page.waitForRequest((request) => request.resourceType() === "eventsource");
    wire.cut();
    await again;
  }
  const heard = (await follows).map((data) => JSON.parse(data));
  expect(heard).toEqual(await journal(page, runId));
  expect(heard.at(-1)).toMatchObject({ type: "done", status: "complete" });
  wire.close();
});

/** The smallest possible PNG file. */
function pngOfOneDot(): Buffer {
  const crcOf = (bytes: Buffer) => {
    let crc = ~0;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    return ~crc >>> 0;
  };
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [size, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    crc.writeUInt32BE(crcOf(named));
    return Buffer.concat([size, named, crc]);
  };
  const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const dot = deflateSync(Buffer.from([0, 200, 60, 60]));
  const sign = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([sign, chunk("IHDR", head), chunk("IDAT", dot), chunk("IEND", Buffer.alloc(0))]);
}
