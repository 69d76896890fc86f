// The access token. A tab keeps it until it is closed, or the browser remembers it. Open tabs of this origin share it,
// so that the user is asked once. It is sent only in a header, never in a URL.
import { ownKey } from "../../logic/baseUrl.ts";
import { browserStorage, StoredText, tabStorage } from "../browserStorage.ts";

const KEY = ownKey("signalbox.token");
const CHANNEL = ownKey("signalbox-token");

/** How long other tabs may take to share their token. */
export const HANDOVER_MS = 300;

type TokenMessage =
  | { kind: "ask" }
  /** `instead`: the token that this one replaces. */
  | { kind: "token"; token: string; remember: boolean; instead: string }
  | { kind: "forget"; token: string };

/** The used part of a BroadcastChannel. */
export interface TokenChannel {
  postMessage(word: TokenMessage): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
}

export interface TokenDeps {
  tab?: StoredText;
  browser?: StoredText;
  channel?: TokenChannel | undefined;
}

export class AccessToken {
  readonly #tab: StoredText;
  readonly #browser: StoredText;
  readonly #channel: TokenChannel | undefined;
  readonly #listeners = new Set<() => void>();
  /** The server requires a token or has rejected this one. */
  #isWanted = false;

  constructor(deps: TokenDeps = {}) {
    this.#tab = deps.tab ?? new StoredText(tabStorage(), KEY);
    this.#browser = deps.browser ?? new StoredText(browserStorage(), KEY);
    this.#channel = "channel" in deps ? deps.channel : openChannel();
    this.#channel?.addEventListener("message", ({ data }) => isTokenMessage(data) && this.#receive(data));
  }

  /** Empty if there is no token. */
  readonly read = (): string => this.#tab.read() || this.#browser.read();

  get isRemembered(): boolean {
    return this.#tab.read() === "" && this.#browser.read() !== "";
  }

  /** Listen for a token from another tab, or for its removal. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The server responded with 401. Returns whether other tabs were asked, which takes up to `HANDOVER_MS`. */
  want(): boolean {
    this.#isWanted = true;
    if (this.read() || !this.#channel) return false;
    this.#channel.postMessage({ kind: "ask" });
    return true;
  }

  /** Store an accepted token and share it with tabs that need one. */
  keep(token: string, remember: boolean): void {
    const instead = this.read();
    if (this.#isWanted && !remember) this.#browser.write("");
    this.#store(token, remember);
    this.#channel?.postMessage({ kind: "token", token, remember, instead });
  }

  /** Remove the token in all tabs. */
  forget(): void {
    const token = this.read();
    this.#drop();
    this.#channel?.postMessage({ kind: "forget", token });
  }

  #store(token: string, remember: boolean): void {
    this.#browser.write(remember ? token : this.#browser.read());
    this.#tab.write(remember ? "" : token);
    this.#isWanted = false;
  }

  #drop(): void {
    this.#tab.write("");
    this.#browser.write("");
  }

  #receive(word: TokenMessage): void {
    switch (word.kind) {
      case "ask":
        this.#shareToken();
        break;
      case "token":
        this.#receiveToken(word.token, word.remember, word.instead);
        break;
      case "forget":
        this.#receiveForget(word.token);
    }
  }

  /** The other tab has already removed a remembered token. */
  #receiveForget(token: string): void {
    const own = this.read();
    if (own !== "" && own !== token) return;
    this.#drop();
    this.#notify();
  }

  /** A rejected token is not shared. */
  #shareToken(): void {
    const token = this.read();
    if (!token || this.#isWanted) return;
    this.#channel?.postMessage({ kind: "token", token, remember: this.isRemembered, instead: "" });
  }

  #receiveToken(token: string, remember: boolean, instead: string): void {
    const wasWanted = this.#isWanted;
    const own = this.read();
    if (!wasWanted && (own === "" || own !== instead)) return;
    this.#store(token, remember);
    if (wasWanted) this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

const openChannel = (): TokenChannel | undefined =>
  typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(CHANNEL);

/** Tabs with another version of the page may send other messages. */
function isTokenMessage(data: unknown): data is TokenMessage {
  if (typeof data !== "object" || data === null) return false;
  const { kind, token, remember, instead } = data as Record<string, unknown>;
  if (kind === "ask") return true;
  if (kind === "forget") return typeof token === "string";
  return kind === "token" && typeof token === "string" && typeof remember === "boolean" && typeof instead === "string";
}

/** The access token of this page. */
export const accessToken = new AccessToken();
