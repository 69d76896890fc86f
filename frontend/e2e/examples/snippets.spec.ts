// The code of docs/clients/assistant-ui.md has the types of the installed packages.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";

const ROOT = join(import.meta.dirname, "../../..");
const EXAMPLE = join(ROOT, "examples/assistant-ui");
const TSC = join(EXAMPLE, "node_modules/typescript/bin/tsc");

test("the snippets are typed", () => {
  const page = readFileSync(join(ROOT, "docs/clients/assistant-ui.md"), "utf8");
  const snippets = [...page.matchAll(/^```tsx\n(.*?)^```$/gms)].map(([, code]) => code ?? "");
  expect(snippets.length).toBeGreaterThan(1);
  // Inside the example, so that its packages are found.
  const folder = mkdtempSync(join(EXAMPLE, "dist/snippets-"));
  try {
    for (const [place, code] of snippets.entries()) writeFileSync(join(folder, `${place}.tsx`), code);
    writeFileSync(join(folder, "tsconfig.json"), '{ "extends": "../../tsconfig.json", "include": ["*.tsx"] }');
    execFileSync(process.execPath, [TSC, "-p", folder], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    expect((error as { stdout?: string }).stdout ?? String(error)).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
