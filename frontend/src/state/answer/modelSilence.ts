// Detects that a model has sent nothing for too long. Pings do not count as output, and running tools do not count as
// silence.

/** After this time the page says that the model is silent. */
export const SILENCE_MS = 12_000;

export interface SilenceDeps {
  /** The page's clock in milliseconds. */
  now: () => number;
  /** Something else is pending: a tool, the connection, or a stop. */
  isExcused: () => boolean;
  /** Called with the start of the silence on the page's clock, and with undefined when it ends. */
  onSilence: (since: number | undefined) => void;
}

export class SilenceTimer {
  readonly #deps: SilenceDeps;
  #since = 0;
  #isReported = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: SilenceDeps) {
    this.#deps = deps;
  }

  /** Restart the measurement: the model sent something, or the connection is back. */
  restart(): void {
    this.#since = this.#deps.now();
    this.#clearReport();
    // A running timer checks the clock when it fires, so a token needs no new timer.
    this.#timer ??= setTimeout(() => this.#check(), SILENCE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#clearReport();
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#deps.isExcused()) this.restart();
    else this.#reportIfSilent();
  }

  #reportIfSilent(): void {
    const left = this.#since + SILENCE_MS - this.#deps.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#check(), left);
      return;
    }
    this.#isReported = true;
    this.#deps.onSilence(this.#since);
  }

  #clearReport(): void {
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#deps.onSilence(undefined);
  }
}
