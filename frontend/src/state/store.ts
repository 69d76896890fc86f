// State outside React: it changes as events come, and React sees it at most once per animation frame.
import { useSyncExternalStore } from "react";

/** Runs the function soon, with the next frame; a hidden tab has no frames. */
export type Schedule = (run: () => void) => void;

export const nextFrame: Schedule = (run) => {
  if (typeof requestAnimationFrame === "undefined" || document.hidden) setTimeout(run, 100);
  else requestAnimationFrame(run);
};

export class Store<State extends object> {
  readonly #listeners = new Set<() => void>();
  readonly #schedule: Schedule;
  #state: State;
  /** What React sees. */
  #shown: State;
  #scheduled = false;

  constructor(state: State, schedule: Schedule = nextFrame) {
    this.#state = state;
    this.#shown = state;
    this.#schedule = schedule;
  }

  /** The newest state, ahead of the screen by at most a frame. */
  get state(): State {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): State => this.#shown;

  /** Change the state; the screen follows with the next frame. */
  protected set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => this.flush());
  }

  /** Show the newest state now: what a key press did is seen in the same frame. */
  flush(): void {
    this.#scheduled = false;
    if (this.#shown === this.#state) return;
    this.#shown = this.#state;
    for (const listener of this.#listeners) listener();
  }
}

/** One value of the state: the reader of it is drawn again only when that changes. */
export const useStored = <State extends object, Value extends string | boolean>(
  store: Store<State>,
  select: (state: State) => Value,
): Value => {
  const value = () => select(store.snapshot());
  return useSyncExternalStore(store.subscribe, value, value);
};

export const useStore = <State extends object>(store: Store<State>): State =>
  useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
