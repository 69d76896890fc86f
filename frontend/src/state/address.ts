// The page's address: a conversation, a run, a saved answer, or a new chat. It is in the URL fragment, so the server
// needs no routes.
import { useSyncExternalStore } from "react";

export type Address =
  | { kind: "new" }
  | { kind: "conversation"; id: string }
  /** A run, followed read-only. */
  | { kind: "run"; id: string }
  /** A saved answer. */
  | { kind: "save"; id: string }
  /** The files of a conversation, in a separate window. */
  | { kind: "files"; id: string };

const KINDS = { c: "conversation", run: "run", save: "save", files: "files" } as const;

/** Parse the fragment. An invalid one is a new chat. */
export function readAddress(hash: string): Address {
  const [, name = "", value = ""] = /^#(c|run|save|files)=(.+)$/.exec(hash) ?? [];
  const kind = KINDS[name as keyof typeof KINDS];
  try {
    const id = decodeURIComponent(value);
    return kind && /^[\w.:-]{1,256}$/.test(id) ? { kind, id } : { kind: "new" };
  } catch {
    return { kind: "new" };
  }
}

export const hashOf = (address: Address): string => {
  if (address.kind === "new") return "";
  const name = address.kind === "conversation" ? "c" : address.kind;
  return `#${name}=${encodeURIComponent(address.id)}`;
};

const CHANGED = "signalbox:address";

/** Navigate to an address. `replace` adds no history entry. */
export function goTo(address: Address, { replace = false } = {}): void {
  const url = `${location.pathname}${hashOf(address)}`;
  if (url === `${location.pathname}${location.hash}`) return;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  window.dispatchEvent(new Event(CHANGED));
}

const EVENTS = ["hashchange", "popstate", CHANGED];

function subscribe(listener: () => void): () => void {
  for (const event of EVENTS) window.addEventListener(event, listener);
  return () => {
    for (const event of EVENTS) window.removeEventListener(event, listener);
  };
}

export const useHash = (): string =>
  useSyncExternalStore(
    subscribe,
    () => location.hash,
    () => "",
  );
