// Retries what failed: a few times soon, then at a fixed interval.

/** Waits before the first tries. */
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

  /** It failed. True while another try comes soon. */
  failed(): boolean {
    const soon = SOON_MS[this.#failures++];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#run, soon ?? this.#laterMs);
    return soon !== undefined;
  }

  /** It succeeded, or is not wanted any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#failures = 0;
  }
}
