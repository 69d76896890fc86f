// A store whose data is changed by requests: it reloads after each change, and keeps the reason of a refusal.
import { Store } from "../store.ts";
import { sentenceOf } from "./request.ts";

export interface ChangeState {
  /** Why the data may be outdated. */
  trouble: string | undefined;
  /** Why the last change was not made. */
  refusal: string | undefined;
  isSaving: boolean;
}

export const UNCHANGED: ChangeState = { trouble: undefined, refusal: undefined, isSaving: false };

export abstract class ChangeStore<State extends ChangeState> extends Store<State> {
  /** Returns the data. */
  protected abstract fetch(): Promise<Partial<State>>;

  async load(): Promise<void> {
    try {
      this.put(await this.fetch());
      this.put({ trouble: undefined });
    } catch (error) {
      this.put({ trouble: sentenceOf(error) });
    }
  }

  forgetRefusal(): void {
    this.put({ refusal: undefined });
  }

  /** Resolves to whether the server has made the change. */
  protected async apply(send: () => Promise<void>): Promise<boolean> {
    this.put({ isSaving: true, refusal: undefined });
    try {
      await send();
    } catch (error) {
      this.put({ isSaving: false, refusal: sentenceOf(error) });
      return false;
    }
    await this.load();
    this.put({ isSaving: false });
    return true;
  }

  // TypeScript does not know that a part of ChangeState is a part of State.
  protected put(change: Partial<ChangeState> | Partial<State>): void {
    this.set(change as Partial<State>);
  }
}
