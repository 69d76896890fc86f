// Retries with short delays first, then at a fixed interval.

/** Delays of the first retries. */
const SOON_MS = [500, 1000, 2000, 4000] as const;

export class Retry {
  readonly #run: () => void;
  readonly #laterMs: number;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: () => void, laterMs: number) {
    this.#run = run;
    this.#laterMs = laterMs;
  }

  /** Schedule a retry after a failure. Returns whether it is one of the early ones. */
  failed(): boolean {
    const soon = SOON_MS[this.#failures++];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#run, soon ?? this.#laterMs);
    return soon !== undefined;
  }

  /** Cancel the retries after a success. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#failures = 0;
  }
}
