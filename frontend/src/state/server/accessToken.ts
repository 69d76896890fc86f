// The access token. A tab keeps it until it is closed, or the browser remembers it. Open tabs of this origin hand it to
// each other, so that it is asked for once. It is sent in a header alone, never in an address.
import { browserStorage, KeptText, tabStorage } from "../browserStorage.ts";

const KEY = "signalbox.token";
const CHANNEL = "signalbox-token";

/** How long another tab may take to hand over its token. */
export const HANDOVER_MS = 300;

type Word =
  | { kind: "ask" }
  /** `instead`: the token that it replaces. */
  | { kind: "token"; token: string; remember: boolean; instead: string }
  | { kind: "forget"; token: string };

/** The part of a BroadcastChannel that is used. */
export interface TokenChannel {
  postMessage(word: Word): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
}

export interface TokenDeps {
  tab?: KeptText;
  browser?: KeptText;
  channel?: TokenChannel | undefined;
}

export class AccessToken {
  readonly #tab: KeptText;
  readonly #browser: KeptText;
  readonly #channel: TokenChannel | undefined;
  readonly #listeners = new Set<() => void>();
  /** The server asks for a token, or has refused this one. */
  #isWanted = false;

  constructor(deps: TokenDeps = {}) {
    this.#tab = deps.tab ?? new KeptText(tabStorage(), KEY);
    this.#browser = deps.browser ?? new KeptText(browserStorage(), KEY);
    this.#channel = "channel" in deps ? deps.channel : openChannel();
    this.#channel?.addEventListener("message", ({ data }) => isWord(data) && this.#hear(data));
  }

  /** Empty where there is none. */
  readonly read = (): string => this.#tab.read() || this.#browser.read();

  get isRemembered(): boolean {
    return this.#tab.read() === "" && this.#browser.read() !== "";
  }

  /** Hear that another tab has brought the token that is wanted here, or has forgotten this one. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The server has answered 401. True: other tabs were asked, and may bring a token within `HANDOVER_MS`. */
  want(): boolean {
    this.#isWanted = true;
    if (this.read() || !this.#channel) return false;
    this.#channel.postMessage({ kind: "ask" });
    return true;
  }

  /** Use this token, which the server has accepted, here and in the tabs that wait for one. */
  keep(token: string, remember: boolean): void {
    const instead = this.read();
    if (this.#isWanted && !remember) this.#browser.write("");
    this.#take(token, remember);
    this.#channel?.postMessage({ kind: "token", token, remember, instead });
  }

  /** Here and in all tabs. */
  forget(): void {
    const token = this.read();
    this.#drop();
    this.#channel?.postMessage({ kind: "forget", token });
  }

  #take(token: string, remember: boolean): void {
    this.#browser.write(remember ? token : this.#browser.read());
    this.#tab.write(remember ? "" : token);
    this.#isWanted = false;
  }

  #drop(): void {
    this.#tab.write("");
    this.#browser.write("");
  }

  #hear(word: Word): void {
    switch (word.kind) {
      case "ask":
        this.#answer();
        break;
      case "token":
        this.#hearToken(word.token, word.remember, word.instead);
        break;
      case "forget":
        this.#hearForget(word.token);
    }
  }

  /** One that was remembered is gone here already. */
  #hearForget(token: string): void {
    const own = this.read();
    if (own !== "" && own !== token) return;
    this.#drop();
    this.#tell();
  }

  /** A token that was refused helps nobody. */
  #answer(): void {
    const token = this.read();
    if (!token || this.#isWanted) return;
    this.#channel?.postMessage({ kind: "token", token, remember: this.isRemembered, instead: "" });
  }

  #hearToken(token: string, remember: boolean, instead: string): void {
    const wasWanted = this.#isWanted;
    const own = this.read();
    if (!wasWanted && (own === "" || own !== instead)) return;
    this.#take(token, remember);
    if (wasWanted) this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const openChannel = (): TokenChannel | undefined =>
  typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(CHANNEL);

/** A page of another version may say other things. */
function isWord(data: unknown): data is Word {
  if (typeof data !== "object" || data === null) return false;
  const { kind, token, remember, instead } = data as Record<string, unknown>;
  if (kind === "ask") return true;
  if (kind === "forget") return typeof token === "string";
  return kind === "token" && typeof token === "string" && typeof remember === "boolean" && typeof instead === "string";
}

/** This page's. */
export const accessToken = new AccessToken();
