// API tokens and groups: loads them, and reloads them after each change.
import type { ApiToken, Group } from "../../types/operator.ts";
import { Store } from "../store.ts";
import { sentenceOf } from "./request.ts";
import * as requests from "./tokenRequests.ts";

export interface TokensState {
  /** Undefined until they are loaded. */
  tokens: readonly ApiToken[] | undefined;
  groups: readonly Group[];
  /** Why the data may be outdated. */
  trouble: string | undefined;
  /** Why the last change was not made. */
  refusal: string | undefined;
  isSaving: boolean;
  /** The text of a new token, until the user has copied it. */
  secret: requests.Secret | undefined;
}

export class Tokens extends Store<TokensState> {
  constructor() {
    super({
      tokens: undefined,
      groups: [],
      trouble: undefined,
      refusal: undefined,
      isSaving: false,
      secret: undefined,
    });
  }

  async load(): Promise<void> {
    try {
      const [tokens, groups] = await Promise.all([requests.fetchTokens(), requests.fetchGroups()]);
      this.set({ tokens, groups, trouble: undefined });
    } catch (error) {
      this.set({ trouble: sentenceOf(error) });
    }
  }

  /** Each change resolves to whether the server has made it. */
  create(fields: requests.Fields): Promise<boolean> {
    return this.#change(async () => this.set({ secret: await requests.createToken(fields) }));
  }

  change(id: string, fields: requests.Fields): Promise<boolean> {
    return this.#change(() => requests.changeToken(id, fields));
  }

  rotate(id: string, graceSeconds: number): Promise<boolean> {
    return this.#change(async () => this.set({ secret: await requests.rotateToken(id, graceSeconds) }));
  }

  revoke(id: string): Promise<boolean> {
    return this.#change(() => requests.revokeToken(id));
  }

  putGroup(name: string, fields: requests.Fields): Promise<boolean> {
    return this.#change(() => requests.putGroup(name, fields));
  }

  deleteGroup(name: string): Promise<boolean> {
    return this.#change(() => requests.deleteGroup(name));
  }

  forgetSecret(): void {
    this.set({ secret: undefined });
  }

  forgetRefusal(): void {
    this.set({ refusal: undefined });
  }

  async #change(send: () => Promise<void>): Promise<boolean> {
    this.set({ isSaving: true, refusal: undefined });
    try {
      await send();
    } catch (error) {
      this.set({ isSaving: false, refusal: sentenceOf(error) });
      return false;
    }
    await this.load();
    this.set({ isSaving: false });
    return true;
  }
}
