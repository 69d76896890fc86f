// Whether the server can be reached: the browser's online state, verified by a request. A local server needs no
// network.
import { type Schedule, Store } from "../store.ts";

export interface ConnectivityState {
  offline: boolean;
}

export interface ConnectivityDeps {
  /** Whether the browser reports that it is offline. */
  isOffline: () => boolean;
  /** The target of `online` and `offline` events. */
  events: Pick<EventTarget, "addEventListener" | "removeEventListener">;
  /** Whether the server responds even so. */
  reach: () => Promise<boolean>;
  probeMs?: number;
  schedule?: Schedule;
}

const PROBE_MS = 10_000;

export class Connectivity extends Store<ConnectivityState> {
  readonly #deps: ConnectivityDeps;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: ConnectivityDeps) {
    super({ offline: deps.isOffline() }, deps.schedule);
    this.#deps = deps;
  }

  /** Follow the online state until the result is called. `onBack` is called when the connection returns. */
  start(onBack: () => void): () => void {
    const { events } = this.#deps;
    const look = () => void this.#look(onBack);
    events.addEventListener("online", look);
    events.addEventListener("offline", look);
    look();
    return () => {
      clearTimeout(this.#timer);
      events.removeEventListener("online", look);
      events.removeEventListener("offline", look);
    };
  }

  async #look(onBack: () => void): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#deps.isOffline()) return this.#set(false, onBack);
    this.#set(true, onBack);
    const isReached = await this.#deps.reach();
    if (isReached) return this.#set(false, onBack);
    if (!this.#deps.isOffline()) return;
    this.#timer = setTimeout(() => void this.#look(onBack), this.#deps.probeMs ?? PROBE_MS);
  }

  #set(offline: boolean, onBack: () => void): void {
    if (offline === this.state.offline) return;
    this.set({ offline });
    this.flush();
    if (!offline) onBack();
  }
}
