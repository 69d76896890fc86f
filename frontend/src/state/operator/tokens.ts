// API tokens and groups: loads them, and reloads them after each change.
import type { ApiToken, Group } from "../../types/operator.ts";
import { type ChangeState, ChangeStore, UNCHANGED } from "./changeStore.ts";
import * as requests from "./tokenRequests.ts";

export interface TokensState extends ChangeState {
  /** Undefined until they are loaded. */
  tokens: readonly ApiToken[] | undefined;
  groups: readonly Group[];
  /** The text of a new token, until the user has copied it. */
  secret: requests.Secret | undefined;
}

export class Tokens extends ChangeStore<TokensState> {
  constructor() {
    super({ ...UNCHANGED, tokens: undefined, groups: [], secret: undefined });
  }

  protected async fetch(): Promise<Partial<TokensState>> {
    const [tokens, groups] = await Promise.all([requests.fetchTokens(), requests.fetchGroups()]);
    return { tokens, groups };
  }

  create(fields: requests.Fields): Promise<boolean> {
    return this.apply(async () => this.set({ secret: await requests.createToken(fields) }));
  }

  change(id: string, fields: requests.Fields): Promise<boolean> {
    return this.apply(() => requests.changeToken(id, fields));
  }

  rotate(id: string, graceSeconds: number): Promise<boolean> {
    return this.apply(async () => this.set({ secret: await requests.rotateToken(id, graceSeconds) }));
  }

  revoke(id: string): Promise<boolean> {
    return this.apply(() => requests.revokeToken(id));
  }

  putGroup(name: string, fields: requests.Fields): Promise<boolean> {
    return this.apply(() => requests.putGroup(name, fields));
  }

  deleteGroup(name: string): Promise<boolean> {
    return this.apply(() => requests.deleteGroup(name));
  }

  forgetSecret(): void {
    this.set({ secret: undefined });
  }
}
