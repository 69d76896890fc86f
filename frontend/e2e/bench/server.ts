// Starts `signalbox serve` in a separate folder with the benchmark's upstream.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FOREIGN = /^(OPENROUTER_|SIGNALBOX_|TOOL_LOOP|SEARCH_|SEARXNG_|WEB_CONCURRENCY|HTTP|ALL_PROXY)/i;
const GRACE_MS = 3_000;
const READY = /ready: (http:\/\/127\.0\.0\.1:\d+)/;

export interface Served {
  url: string;
  folder: string;
  end: () => Promise<void>;
}

/** Without an upstream, the built-in simulator answers, as after `./just start`. */
export async function serve(upstream: string | undefined, port: string): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-page-bench-"));
  const child = spawn("signalbox", ["serve", "--port", port], {
    cwd: folder,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name))),
      SIGNALBOX_DATA_DIR: join(folder, "data"),
      ...(upstream ? { OPENROUTER_BASE_URL: upstream, OPENROUTER_API_KEY: "sk-or-bench" } : {}),
      TOOL_LOOP_V2: "true",
    },
  });
  const end = () =>
    new Promise<void>((gone) => {
      const leave = () => {
        rmSync(folder, { recursive: true, force: true });
        gone();
      };
      if (child.exitCode !== null) return leave();
      child.once("exit", leave);
      child.kill("SIGTERM");
      // The server waits for streams that no client reads any more.
      setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
    });
  try {
    return { url: await ready(child), folder, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const [, url] = READY.exec(said) ?? [];
      if (url) resolve(url);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said.slice(-2000)}`)));
  });
}
