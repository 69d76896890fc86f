// Prerenders the page into index.html, so that a slow connection shows it before its scripts run.
import { type Plugin, type ResolvedConfig, runnerImport } from "vite";

const ROOT = '<div id="root"></div>';

export const drawShell = (): Plugin => {
  let config: ResolvedConfig;
  return {
    name: "signalbox:shell",
    apply: "build",
    configResolved: (resolved) => {
      config = resolved;
    },
    transformIndexHtml: {
      order: "pre",
      async handler(html, { path }) {
        if (path !== "/index.html") return html;
        if (!html.includes(ROOT)) throw new Error(`index.html has no ${ROOT}`);
        const shell = await withoutChannels(() => drawn(config));
        return html.replace(ROOT, () => `<div id="root">${shell}</div>`);
      },
    },
  };
};

async function drawn({ root, resolve: { alias } }: ResolvedConfig): Promise<string> {
  const { module } = await runnerImport<{ shell: () => string }>("./src/shell.tsx", { root, resolve: { alias } });
  return module.shell();
}

/** Modules open channels to other tabs. An open channel would keep the build process alive. */
async function withoutChannels<Result>(work: () => Promise<Result>): Promise<Result> {
  const channel = globalThis.BroadcastChannel;
  Reflect.deleteProperty(globalThis, "BroadcastChannel");
  try {
    return await work();
  } finally {
    globalThis.BroadcastChannel = channel;
  }
}
