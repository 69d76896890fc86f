// The page's knowledge of the server: models, tools, readiness, and whether it requires a token.
import { ApiError, fetchModels, fetchReadiness, fetchTools } from "@signalbox/client/requests";
import { ownKey } from "../../logic/baseUrl.ts";
import type { Model, Parameters, Tool } from "../../types/api.ts";
import type { Readiness } from "../../types/models.ts";
import { readAddress } from "../address.ts";
import { StoredText, tabStorage } from "../browserStorage.ts";
import { sendAfterToken } from "../chat/unconfirmedMessages.ts";
import { Store } from "../store.ts";
import { accessToken, HANDOVER_MS } from "./accessToken.ts";
import { Retry } from "./retry.ts";
import { BASE_URL, connect } from "./server.ts";

export interface SessionState {
  models: readonly Model[];
  /** The default model. */
  preferred: string;
  tools: readonly Tool[];
  /** The default limits of a run. Empty until they are loaded. */
  defaultLimits: Parameters;
  /** Why the list of tools could not be loaded, as a sentence. */
  toolsTrouble: string | undefined;
  /** Undefined until the server has responded. */
  readiness: Readiness | undefined;
  /** The state of the model list. A failed list is still retried. */
  listing: "loading" | "here" | "failed";
  /** Why the server cannot be used, as a sentence. */
  trouble: string | undefined;
  /** The token dialog is open. */
  tokenNeeded: boolean;
  /** The server requires another token, whether or not the dialog is open. */
  locked: boolean;
  /** The entered token was rejected. */
  tokenRefused: boolean;
}

const LISTED_MS = 5000;
/** The interval of later attempts to load the models. */
const LIST_LATER_MS = 30_000;

const ADMIN = new StoredText(tabStorage(), ownKey("signalbox.admin"));

/** The operator token of this tab. It includes all rights of the access token. */
export const readAdminToken = (): string => ADMIN.read();

export const writeAdminToken = (token: string): void => ADMIN.write(token);

/** The token for reading runs. With the operator token of this tab, that includes all users' runs. */
export const runToken = (): string => readAdminToken() || accessToken.read();

export class Session extends Store<SessionState> {
  readonly client = connect(accessToken.read);
  /** For single runs and the inspector, because the operator page links to all users' runs. */
  readonly reader = connect(runToken);

  /** Reload the page, so that everything is loaded with the new token, or without one. */
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
  #tools: Promise<void> | undefined;
  readonly #retry = new Retry(() => void this.#readModels(), LIST_LATER_MS);

  /** Load readiness, models and tools. */
  load(): void {
    void this.#loadReadiness();
    this.#models = this.#loadModels();
  }

  /** Wait for the lists of models and tools, but not forever. */
  async listed(): Promise<void> {
    await this.#soon(this.#models);
  }

  /** Wait for the list of tools, but not forever. */
  async toolsListed(): Promise<void> {
    await this.#soon(this.#tools);
  }

  async #soon(list: Promise<void> | undefined): Promise<void> {
    await Promise.race([list, new Promise((resolve) => setTimeout(resolve, LISTED_MS))]);
  }

  /** Load what failed before, because the connection is back or the user asked for it. */
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

  /** The server requires a token. Ask other tabs, then the user. */
  askForToken(): void {
    const tokenRefused = accessToken.read() !== "";
    const lock = () => this.set({ tokenNeeded: true, locked: true, tokenRefused });
    if (accessToken.want()) setTimeout(lock, HANDOVER_MS);
    else lock();
  }

  /** Do not cover a run that the operator token opens. Another token is asked for when a message is sent. */
  #askUnlessOperator(): void {
    if (readAdminToken() !== "" && readAddress(location.hash).kind === "run") {
      accessToken.want();
      this.set({ locked: true });
    } else this.askForToken();
  }

  dismissToken(): void {
    this.set({ tokenNeeded: false });
  }

  /** Store a token if the server accepts it, then reload. */
  async takeToken(token: string, remember: boolean): Promise<void> {
    this.set({ tokenRefused: false });
    try {
      await fetchTools(connect(() => token));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        this.set({ tokenRefused: true });
        return;
      }
      // Other errors are unrelated to the token and are shown after the reload.
    }
    accessToken.keep(token, remember);
    this.#begin();
  }

  /** Sign out in all tabs. */
  forgetToken(): void {
    accessToken.forget();
    this.#reload();
  }

  /** Reload with a new token. Messages that were rejected without it are sent after the reload. */
  #begin(): void {
    if (accessToken.read() !== "") sendAfterToken(tabStorage());
    this.#reload();
  }

  async #loadReadiness(): Promise<void> {
    try {
      this.set({ readiness: await fetchReadiness({ baseUrl: BASE_URL }), trouble: undefined });
    } catch {
      this.set({ trouble: "Signalbox is not responding. Check that the server is running, then reload." });
    }
  }

  async #loadModels(): Promise<void> {
    this.#tools = this.#readTools();
    await Promise.all([this.#readModels(), this.#tools]);
  }

  async #readModels(): Promise<void> {
    try {
      const { models, preferred } = await fetchModels(this.client);
      this.set({ models, preferred: preferred || (models[0]?.id ?? ""), listing: "here", locked: false });
    } catch (error) {
      // Without a list, the picker accepts any model id. Only a 401 needs a token, and retrying with the same one is
      // useless.
      if (error instanceof ApiError && error.status === 401) {
        this.#askUnlessOperator();
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
