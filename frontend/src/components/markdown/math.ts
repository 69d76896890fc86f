// Loads KaTeX when the first finished formula appears.
import { useEffect, useSyncExternalStore } from "react";
import type { Options } from "react-markdown";

type Plugin = NonNullable<Options["remarkPlugins"]>[number];

export interface MathPlugins {
  remark: Plugin;
  rehype: Plugin;
}

let loaded: MathPlugins | undefined;
let loading = false;
const listeners = new Set<() => void>();

async function load(): Promise<void> {
  if (loading) return;
  loading = true;
  try {
    loaded = (await import("./katex.ts")).plugins;
    for (const listener of listeners) listener();
  } catch {
    // If loading fails, the formula stays as written. The next formula tries again.
    loading = false;
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const snapshot = () => loaded;

export function useMath(wanted: boolean): MathPlugins | undefined {
  const math = useSyncExternalStore(subscribe, snapshot, snapshot);
  useEffect(() => {
    if (wanted) void load();
  }, [wanted]);
  return wanted ? math : undefined;
}
