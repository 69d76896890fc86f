// Loads a guide document as text from the address of the page.
import { ApiError, fetchDocument } from "@signalbox/client/requests";
import { Store } from "../store.ts";
import { accessToken, HANDOVER_MS } from "./accessToken.ts";
import { connect } from "./server.ts";

export interface GuideDocumentState {
  /** Undefined until it is loaded. */
  text: string | undefined;
  trouble: string | undefined;
  tokenNeeded: boolean;
  /** The entered token was rejected. */
  tokenRefused: boolean;
}

export class GuideDocument extends Store<GuideDocumentState> {
  readonly #client = connect(accessToken.read);
  readonly #path: string;

  constructor(path: string) {
    super({ text: undefined, trouble: undefined, tokenNeeded: false, tokenRefused: false });
    this.#path = path;
    accessToken.follow(() => void this.load());
  }

  async load(): Promise<void> {
    try {
      this.set({ text: await fetchDocument(this.#client, this.#path), trouble: undefined });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#askForToken();
      else this.set({ trouble: sentenceOf(error) });
    }
  }

  /** Ask other tabs for a token, then the user. */
  #askForToken(): void {
    const tokenRefused = accessToken.read() !== "";
    if (accessToken.want()) setTimeout(() => this.set({ tokenNeeded: this.state.text === undefined }), HANDOVER_MS);
    else this.set({ tokenNeeded: true, tokenRefused });
  }

  takeToken(token: string, remember: boolean): void {
    accessToken.keep(token, remember);
    this.set({ tokenNeeded: false });
    void this.load();
  }

  giveUp(): void {
    if (this.state.tokenNeeded)
      this.set({ tokenNeeded: false, trouble: "You need the access token to read this page." });
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 404) return "Page not found.";
  return error instanceof Error ? error.message : String(error);
}
