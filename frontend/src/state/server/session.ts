// What the page knows of the server: its models and tools, whether it is a simulation, and whether it wants a token.
import { createClient, fetchReadiness } from "../../stream/client.ts";
import { ApiError } from "../../stream/errors.ts";
import { fetchModels, fetchTools } from "../../stream/models.ts";
import type { Model, Parameters, Tool } from "../../types/api.ts";
import type { Readiness } from "../../types/models.ts";
import { KeptText, tabStorage } from "../browserStorage.ts";
import { sendAfterToken } from "../chat/unconfirmedMessages.ts";
import { Store } from "../store.ts";
import { accessToken, HANDOVER_MS } from "./accessToken.ts";
import { Retry } from "./retry.ts";

export interface SessionState {
  models: readonly Model[];
  /** The model to begin with. */
  preferred: string;
  tools: readonly Tool[];
  /** The limits of a run whose request sets none; empty until they are known. */
  defaultLimits: Parameters;
  /** Why the list of tools is not to be had, as a sentence. */
  toolsTrouble: string | undefined;
  /** Undefined until the server has answered. */
  readiness: Readiness | undefined;
  /** How it stands with the list of models; a list that failed is still asked for now and then. */
  listing: "loading" | "here" | "failed";
  /** Why the server cannot be used, as a sentence. */
  trouble: string | undefined;
  /** The reader is asked for a token. */
  tokenNeeded: boolean;
  /** The server takes nothing without another token, whether or not the reader is being asked for it. */
  locked: boolean;
  /** The token that was entered is not the right one. */
  tokenRefused: boolean;
}

const LISTED_MS = 5000;
/** Until the list of models is asked for again once it has failed several times. */
const LIST_LATER_MS = 30_000;

const ADMIN = new KeptText(tabStorage(), "signalbox.admin");

/** The operator's token, of this tab alone; it opens everything that the access token does. */
export const readAdminToken = (): string => ADMIN.read();

export const writeAdminToken = (token: string): void => ADMIN.write(token);

/** The token to read runs with: the operator's, where this tab has it, shows everybody's. */
export const readingToken = (): string => readAdminToken() || accessToken.read();

export class Session extends Store<SessionState> {
  readonly client = createClient({ token: accessToken.read });
  /** For one run by its address and for the inspector: the operator's page opens any run in them. */
  readonly reader = createClient({ token: readingToken });

  /** Everything that was refused, or must not be seen any more, is asked for anew. */
  readonly #reload: () => void;

  constructor(reload = () => location.reload()) {
    super({
      models: [],
      preferred: "",
      tools: [],
      defaultLimits: {},
      toolsTrouble: undefined,
      readiness: undefined,
      listing: "loading",
      trouble: undefined,
      tokenNeeded: false,
      locked: false,
      tokenRefused: false,
    });
    this.#reload = reload;
    accessToken.follow(() => this.#begin());
  }

  #models: Promise<void> | undefined;
  readonly #retry = new Retry(() => void this.#readModels(), LIST_LATER_MS);

  /** Ask the server what it is and has. */
  load(): void {
    void this.#loadReadiness();
    this.#models = this.#loadModels();
  }

  /** The lists of models and tools have come, or will not; a question does not wait for ever. */
  async listed(): Promise<void> {
    await Promise.race([this.#models, new Promise((resolve) => setTimeout(resolve, LISTED_MS))]);
  }

  /** Ask at once for what could not be had: the connection is back, or the reader wants it. */
  reload(): void {
    if (this.state.trouble !== undefined) void this.#loadReadiness();
    if (this.state.toolsTrouble !== undefined) void this.#readTools();
    if (this.state.listing === "here") return;
    this.#retry.stop();
    this.set({ listing: "loading" });
    this.flush();
    this.#models = this.#readModels();
  }

  modelOf(id: string): Model | undefined {
    return this.state.models.find((model) => model.id === id);
  }

  /** The server wants a token. One of another tab will do; else the reader is asked. */
  askForToken(): void {
    const tokenRefused = accessToken.read() !== "";
    const lock = () => this.set({ tokenNeeded: true, locked: true, tokenRefused });
    if (accessToken.want()) setTimeout(lock, HANDOVER_MS);
    else lock();
  }

  dismissToken(): void {
    this.set({ tokenNeeded: false });
  }

  /** Keep a token that the server takes, and begin anew with it. */
  async takeToken(token: string, remember: boolean): Promise<void> {
    this.set({ tokenRefused: false });
    try {
      await fetchTools(createClient({ token: () => token }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        this.set({ tokenRefused: true });
        return;
      }
      // What else is wrong has nothing to do with the token: the page says so once it is loaded.
    }
    accessToken.keep(token, remember);
    this.#begin();
  }

  /** Sign out, in all tabs. */
  forgetToken(): void {
    accessToken.forget();
    this.#reload();
  }

  /** With a new token: what was refused without it is sent once the page is loaded. */
  #begin(): void {
    if (accessToken.read() !== "") sendAfterToken(tabStorage());
    this.#reload();
  }

  async #loadReadiness(): Promise<void> {
    try {
      this.set({ readiness: await fetchReadiness(), trouble: undefined });
    } catch {
      this.set({ trouble: "Signalbox is not responding. Check that the server is running, then reload." });
    }
  }

  async #loadModels(): Promise<void> {
    await Promise.all([this.#readModels(), this.#readTools()]);
  }

  async #readModels(): Promise<void> {
    try {
      const { models, preferred } = await fetchModels(this.client);
      this.set({ models, preferred: preferred || (models[0]?.id ?? ""), listing: "here", locked: false });
    } catch (error) {
      // Without a list the picker takes any model id; only a refusal has to be answered, and the same token is refused again.
      if (error instanceof ApiError && error.status === 401) {
        this.askForToken();
        this.#retry.stop();
        this.set({ listing: "failed" });
      } else if (!this.#retry.failed()) this.set({ listing: "failed" });
    }
    this.flush();
  }

  async #readTools(): Promise<void> {
    try {
      this.set({ ...(await fetchTools(this.client)), toolsTrouble: undefined });
    } catch (error) {
      this.set({ toolsTrouble: error instanceof Error ? error.message : String(error) });
    }
  }
}
