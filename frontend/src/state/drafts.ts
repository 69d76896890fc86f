// Drafts by conversation, kept in this tab over reloads.
import { useSyncExternalStore } from "react";
import { ownKey } from "../logic/baseUrl.ts";
import type { Picture } from "../types/api.ts";

export interface Draft {
  text: string;
  pictures: readonly Picture[];
}

const EMPTY: Draft = { text: "", pictures: [] };
const PREFIX = `${ownKey("signalbox.draft")}.`;

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export class Drafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #listeners = new Set<() => void>();
  readonly #box: Box | undefined;

  constructor(box: Box | undefined) {
    this.#box = box;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(key: string): Draft {
    const known = this.#drafts.get(key);
    if (known) return known;
    const draft = this.#read(key);
    this.#drafts.set(key, draft);
    return draft;
  }

  change(key: string, change: (draft: Draft) => Partial<Draft>): void {
    const before = this.get(key);
    const after = { ...before, ...change(before) };
    this.#drafts.set(key, after);
    if (after.pictures !== before.pictures) this.#keep(`${key}.pictures`, after.pictures.length > 0 && after.pictures);
    if (after.text !== before.text && !this.#keep(`${key}.text`, after.text) && after.pictures.length > 0) {
      // Text is more important than the images that fill the storage.
      this.#keep(`${key}.pictures`, false);
      this.#keep(`${key}.text`, after.text);
    }
    for (const listener of this.#listeners) listener();
  }

  clear(key: string): void {
    this.change(key, () => EMPTY);
  }

  /** The draft follows a new chat when it gets its id. */
  move(from: string, to: string): void {
    const draft = this.get(from);
    if (from === to || draft === EMPTY) return;
    this.change(to, () => draft);
    this.clear(from);
  }

  /** False if the value does not fit, or storage is denied (private windows). */
  #keep(name: string, value: unknown): boolean {
    try {
      if (value) this.#box?.setItem(PREFIX + name, JSON.stringify(value));
      else this.#box?.removeItem(PREFIX + name);
      return true;
    } catch {
      // The stored value is outdated, so remove it.
      this.#box?.removeItem(PREFIX + name);
      return false;
    }
  }

  #read(key: string): Draft {
    const text = this.#stored(`${key}.text`);
    const pictures = this.#stored(`${key}.pictures`);
    const draft = {
      text: typeof text === "string" ? text : "",
      pictures: Array.isArray(pictures) ? pictures.filter(isPicture) : [],
    };
    return draft.text || draft.pictures.length > 0 ? draft : EMPTY;
  }

  #stored(name: string): unknown {
    try {
      return JSON.parse(this.#box?.getItem(PREFIX + name) ?? "null");
    } catch {
      return null;
    }
  }
}

function isPicture(value: unknown): value is Picture {
  const picture = (value ?? {}) as Partial<Picture>;
  return typeof picture.id === "string" && typeof picture.name === "string" && /^data:image\//.test(picture.url ?? "");
}

function tabBox(): Box | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** The drafts of this tab. */
export const drafts = new Drafts(tabBox());

export const useDraft = (key: string, of: Drafts = drafts): Draft => {
  const draft = () => of.get(key);
  return useSyncExternalStore(of.subscribe, draft, draft);
};
