// What the page knows of the server: its models and tools, whether it is a simulation, and the access token of this tab.
import { createClient, fetchReadiness } from "../stream/client.ts";
import { ApiError } from "../stream/errors.ts";
import { fetchModels, fetchTools } from "../stream/models.ts";
import type { Model, Tool } from "../types/api.ts";
import type { Readiness } from "../types/models.ts";
import { Store } from "./store.ts";

export interface SessionState {
  models: readonly Model[];
  /** The model to begin with. */
  preferred: string;
  tools: readonly Tool[];
  /** Why the list of tools is not to be had, as a sentence. */
  toolsTrouble: string | undefined;
  /** Undefined until the server has answered. */
  readiness: Readiness | undefined;
  /** Why the server cannot be used, as a sentence. */
  trouble: string | undefined;
  tokenNeeded: boolean;
  /** The token that was entered is not the right one. */
  tokenRefused: boolean;
}

const LISTED_MS = 5000;

const TOKEN = "signalbox.token";

const ADMIN = "signalbox.admin";

/** What this tab keeps; undefined where the browser allows none. */
export function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

export const readToken = (): string => kept(TOKEN);

export const writeToken = (token: string): void => keep(TOKEN, token);

/** The operator's token; it opens everything that the access token does. */
export const readAdminToken = (): string => kept(ADMIN);

export const writeAdminToken = (token: string): void => keep(ADMIN, token);

/** The token to read runs with: the operator's, where this tab has it, shows everybody's. */
export const readingToken = (): string => readAdminToken() || readToken();

/** Where the tab keeps nothing, a token lives as long as the page. */
const unkept = new Map<string, string>();

function kept(key: string): string {
  try {
    return tabStorage()?.getItem(key) ?? unkept.get(key) ?? "";
  } catch {
    return unkept.get(key) ?? "";
  }
}

function keep(key: string, value: string): void {
  try {
    const box = tabStorage();
    if (box) box.setItem(key, value);
    else unkept.set(key, value);
  } catch {
    unkept.set(key, value);
  }
}

export class Session extends Store<SessionState> {
  readonly client = createClient({ token: readToken });
  /** For one run by its address and for the inspector: the operator's page opens any run in them. */
  readonly reader = createClient({ token: readingToken });

  constructor() {
    super({
      models: [],
      preferred: "",
      tools: [],
      toolsTrouble: undefined,
      readiness: undefined,
      trouble: undefined,
      tokenNeeded: false,
      tokenRefused: false,
    });
  }

  #models: Promise<void> | undefined;

  /** Ask the server what it is and has. */
  load(): void {
    void this.#loadReadiness();
    this.#models = this.#loadModels();
  }

  /** The lists of models and tools have come, or will not; a question does not wait for ever. */
  async listed(): Promise<void> {
    await Promise.race([this.#models, new Promise((resolve) => setTimeout(resolve, LISTED_MS))]);
  }

  modelOf(id: string): Model | undefined {
    return this.state.models.find((model) => model.id === id);
  }

  askForToken(): void {
    this.set({ tokenNeeded: true, tokenRefused: readToken() !== "" });
  }

  dismissToken(): void {
    this.set({ tokenNeeded: false });
  }

  /** Keep the token for this tab and ask again for what was refused. */
  keepToken(token: string): void {
    writeToken(token);
    this.set({ tokenNeeded: false });
    this.#models = this.#loadModels();
  }

  async #loadReadiness(): Promise<void> {
    try {
      this.set({ readiness: await fetchReadiness(), trouble: undefined });
    } catch {
      this.set({ trouble: "Signalbox does not answer. Start the server, then reload." });
    }
  }

  async #loadModels(): Promise<void> {
    await Promise.all([this.#readModels(), this.#readTools()]);
  }

  async #readModels(): Promise<void> {
    try {
      const { models, preferred } = await fetchModels(this.client);
      this.set({ models, preferred: preferred || (models[0]?.id ?? "") });
    } catch (error) {
      // Without a list the picker takes any model id; only a refusal has to be answered.
      if (error instanceof ApiError && error.status === 401) this.askForToken();
    }
  }

  async #readTools(): Promise<void> {
    try {
      this.set({ tools: await fetchTools(this.client), toolsTrouble: undefined });
    } catch (error) {
      this.set({ toolsTrouble: error instanceof Error ? error.message : String(error) });
    }
  }
}
