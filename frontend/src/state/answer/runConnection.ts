// The connection over which an answer follows its run. Short losses are not shown.

import type { Connection } from "@signalbox/client/requests";
import { type SilenceDeps, SilenceTimer } from "./modelSilence.ts";

export interface RunConnectionDeps extends SilenceDeps {
  /** Shorter losses are not shown. */
  quietMs: number;
  /** Called with each change that is shown. */
  onChange: (connection: Connection) => void;
}

export class RunConnection {
  readonly #deps: RunConnectionDeps;
  readonly #silence: SilenceTimer;
  #abort: AbortController | undefined;
  #away: ReturnType<typeof setTimeout> | undefined;
  #isShown = false;

  constructor(deps: RunConnectionDeps) {
    this.#deps = deps;
    this.#silence = new SilenceTimer(deps);
  }

  /** Ends the requests of the connection. Undefined while no run is followed. */
  get abort(): AbortController | undefined {
    return this.#abort;
  }

  open(): AbortController {
    this.#abort = new AbortController();
    this.#silence.restart();
    return this.#abort;
  }

  /** Return false if the answer has left this connection before. */
  close(abort: AbortController): boolean {
    this.#endLoss();
    if (this.#abort !== abort) return false;
    this.#silence.stop();
    this.#abort = undefined;
    return true;
  }

  /** Stop following. The run itself continues. */
  leave(): void {
    const abort = this.#abort;
    this.#abort = undefined;
    this.#silence.stop();
    abort?.abort();
  }

  /** An event arrived. */
  heard(): void {
    this.#silence.restart();
  }

  change(connection: Connection): void {
    if (connection === "resuming") {
      this.#silence.stop();
      this.#away ??= setTimeout(() => this.#showLoss(), this.#deps.quietMs);
      return;
    }
    this.#endLoss();
    this.#silence.restart();
    this.#deps.onChange(connection);
  }

  #showLoss(): void {
    this.#isShown = true;
    this.#deps.onChange("resuming");
  }

  #endLoss(): void {
    clearTimeout(this.#away);
    this.#away = undefined;
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#deps.onChange("open");
  }
}
