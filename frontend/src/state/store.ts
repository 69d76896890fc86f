// State outside React. It changes with events, and React renders it at most once per animation frame.
import { useSyncExternalStore } from "react";

/** Runs a function in the next frame. Hidden tabs have no frames, so they use a timer. */
export type Schedule = (run: () => void) => void;

export const nextFrame: Schedule = (run) => {
  if (typeof requestAnimationFrame === "undefined" || document.hidden) setTimeout(run, 100);
  else requestAnimationFrame(run);
};

export class Store<State extends object> {
  readonly #listeners = new Set<() => void>();
  readonly #schedule: Schedule;
  #state: State;
  /** The state that React has rendered. */
  #shown: State;
  #scheduled = false;

  constructor(state: State, schedule: Schedule = nextFrame) {
    this.#state = state;
    this.#shown = state;
    this.#schedule = schedule;
  }

  /** The newest state, at most a frame ahead of the rendered one. */
  get state(): State {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): State => this.#shown;

  /** Change the state. It is rendered in the next frame. */
  protected set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => this.flush());
  }

  /** Render the newest state now, for example to react to a key press in the same frame. */
  flush(): void {
    this.#scheduled = false;
    if (this.#shown === this.#state) return;
    this.#shown = this.#state;
    for (const listener of this.#listeners) listener();
  }
}

/** One value of the state. The component renders only when the value changes. */
export const useStored = <State extends object, Value extends string | boolean>(
  store: Store<State>,
  select: (state: State) => Value,
): Value => {
  const value = () => select(store.snapshot());
  return useSyncExternalStore(store.subscribe, value, value);
};

export const useStore = <State extends object>(store: Store<State>): State =>
  useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
