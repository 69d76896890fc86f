// A separate server with its own data, which can be killed and restarted at the same address.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface OwnServer {
  url: string;
  /** The folder of its database. */
  data: string;
  start(): Promise<void>;
  /** Kill the server, so that nothing more is written. */
  kill(): Promise<void>;
}

const READY_MS = 60_000;

/** `command` starts another server that takes `--port`; Signalbox is at the path `under` of it. */
export async function ownServer(
  settings: Record<string, string> = {},
  { command = ["signalbox", "serve"], under = "" } = {},
): Promise<OwnServer> {
  const [program = "", ...words] = command;
  const data = mkdtempSync(join(tmpdir(), "signalbox-own-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...process.env, SIGNALBOX_DATA_DIR: data, OPENROUTER_API_KEY: "", TOOL_LOOP_V2: "true", ...settings };
  let running: ChildProcess | undefined;
  return {
    url,
    data,
    start: async () => {
      running = spawn(program, [...words, "--port", String(port)], { cwd: data, env, stdio: "ignore" });
      await untilReady(`${url}${under}`, running);
    },
    kill: async () => {
      const ended = running;
      running = undefined;
      if (!ended || ended.exitCode !== null) return;
      ended.kill("SIGKILL");
      await once(ended, "exit");
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && server.exitCode === null) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The server at ${url} is not ready; its exit code is ${server.exitCode}.`);
}
