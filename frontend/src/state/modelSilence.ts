// Watches how long a model has sent nothing. Pings of the server are no output, and a tool at work is no silence.

/** From then on the reader is told. */
export const SILENCE_MS = 12_000;

export interface SilenceDeps {
  /** The page's clock in milliseconds. */
  now: () => number;
  /** Something else is waited for: a tool, the connection, the end of a stop. */
  isExcused: () => boolean;
  /** The model has sent nothing since this time of the page's clock; undefined: it sends again. */
  onSilence: (since: number | undefined) => void;
}

export class SilenceWatch {
  readonly #deps: SilenceDeps;
  #since = 0;
  #told = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: SilenceDeps) {
    this.#deps = deps;
  }

  /** Count from now on: the model sent something, or the connection to it is back. */
  restart(): void {
    this.#since = this.#deps.now();
    this.#withdraw();
    // The timer that runs looks at the clock when it fires: a token costs no timer.
    this.#timer ??= setTimeout(() => this.#look(), SILENCE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#withdraw();
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#deps.isExcused()) this.restart();
    else this.#judge();
  }

  #judge(): void {
    const left = this.#since + SILENCE_MS - this.#deps.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#look(), left);
      return;
    }
    this.#told = true;
    this.#deps.onSilence(this.#since);
  }

  #withdraw(): void {
    if (!this.#told) return;
    this.#told = false;
    this.#deps.onSilence(undefined);
  }
}
