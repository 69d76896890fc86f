// A document on its way to the page: fetched as text from the address that the browser shows.
import { createClient, fetchDocument } from "../stream/client.ts";
import { ApiError } from "../stream/errors.ts";
import { readToken, writeToken } from "./session.ts";
import { Store } from "./store.ts";

export interface GuideState {
  /** Undefined until it has come. */
  text: string | undefined;
  trouble: string | undefined;
  tokenNeeded: boolean;
}

export class GuideReader extends Store<GuideState> {
  readonly #client = createClient({ token: readToken });
  readonly #path: string;

  constructor(path: string) {
    super({ text: undefined, trouble: undefined, tokenNeeded: false });
    this.#path = path;
  }

  async load(): Promise<void> {
    try {
      this.set({ text: await fetchDocument(this.#client, this.#path), trouble: undefined });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.set({ tokenNeeded: true });
      else this.set({ trouble: sentenceOf(error) });
    }
  }

  takeToken(token: string): void {
    writeToken(token);
    this.set({ tokenNeeded: false });
    void this.load();
  }

  giveUp(): void {
    if (this.state.tokenNeeded)
      this.set({ tokenNeeded: false, trouble: "This document is shown with the access token only." });
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 404) return "There is no document at this address.";
  return error instanceof Error ? error.message : String(error);
}
