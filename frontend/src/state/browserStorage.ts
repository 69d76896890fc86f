// What the browser keeps for this page. Where it keeps nothing, a value lives as long as the page.

/** What this tab keeps; undefined where the browser allows none. */
export function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** What all tabs of this origin keep, also when they are closed. */
export function browserStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** One text under one key; empty where there is none. */
export class KeptText {
  readonly #box: Box | undefined;
  readonly #key: string;
  #unkept = "";

  constructor(box: Box | undefined, key: string) {
    this.#box = box;
    this.#key = key;
  }

  read(): string {
    return this.#box?.getItem(this.#key) ?? this.#unkept;
  }

  write(text: string): void {
    try {
      if (text) this.#box?.setItem(this.#key, text);
      else this.#box?.removeItem(this.#key);
      this.#unkept = this.#box ? "" : text;
    } catch {
      // The browser's storage is full or closed.
      this.#unkept = text;
    }
  }
}
