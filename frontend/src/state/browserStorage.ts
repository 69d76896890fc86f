// Browser storage. If the browser denies it, values last as long as the page.

/** Storage of this tab. Undefined if the browser denies it. */
export function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** Storage shared by all tabs of this origin, kept when they are closed. Undefined if the browser denies it. */
export function browserStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** A stored text. Empty if there is none. */
export class StoredText {
  readonly #box: Box | undefined;
  readonly #key: string;
  #unstored = "";

  constructor(box: Box | undefined, key: string) {
    this.#box = box;
    this.#key = key;
  }

  read(): string {
    return this.#box?.getItem(this.#key) ?? this.#unstored;
  }

  write(text: string): void {
    try {
      if (text) this.#box?.setItem(this.#key, text);
      else this.#box?.removeItem(this.#key);
      this.#unstored = this.#box ? "" : text;
    } catch {
      // The storage is full or denied.
      this.#unstored = text;
    }
  }
}
