// LibreChat's own schema of librechat.yaml, with the file that docs/clients/chat-apps.md shows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { configSchema } from "librechat-data-provider";
import { report } from "./checks.mjs";

const page = readFileSync(new URL("../../../docs/clients/chat-apps.md", import.meta.url), "utf-8");
const text = /^```yaml\n(.*?)^```$/ms.exec(page)[1];
const faultsOf = (config) => configSchema.strict().safeParse(config).error?.issues ?? [];

await report({
  async config() {
    assert.deepEqual(faultsOf(load(text)), []);
  },
  async without_version() {
    const { version, ...rest } = load(text);
    assert(version);
    assert.deepEqual(faultsOf(rest).map(({ path }) => path), [["version"]]);
  },
});
