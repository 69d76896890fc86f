// Slots for connections. Browsers allow six per host over all tabs, and a stream uses one for minutes.

export type Release = () => void;

/** Slots for live streams, shared by all tabs. */
export interface Slots {
  /** Acquire a slot if one is free. Releasing it twice has no further effect. */
  acquire(signal: AbortSignal): Promise<Release | undefined>;
}

/** The slot for short requests, shared by all tabs. Waits until it is free. */
export type Turn = (signal: AbortSignal) => Promise<Release>;

const STREAMS = [1, 2, 3, 4].map((number) => `signalbox-stream-${number}`);
const POLL = "signalbox-poll";

/** Four streams over all tabs. Without Web Locks (at a plain http address), four in this tab. */
export function slotsOver(locks: LockManager | undefined): Slots {
  const own = ownSlots(STREAMS.length);
  return {
    async acquire(signal) {
      if (!locks) return own.acquire(signal);
      for (const name of STREAMS) {
        if (signal.aborted) return undefined;
        try {
          const release = await hold(locks, name, { ifAvailable: true });
          if (release) return release;
        } catch {
          return own.acquire(signal); // pages with an opaque origin have no locks
        }
      }
      return undefined;
    },
  };
}

/** One short request at a time over all tabs. Rejects with the signal's reason if it aborts. */
export function turnOver(locks: LockManager | undefined): Turn {
  const own = ownTurn();
  return async (signal) => {
    if (!locks) return own(signal);
    try {
      const release = await hold(locks, POLL, { signal });
      if (release) return release;
    } catch {
      signal.throwIfAborted();
    }
    return own(signal);
  };
}

/** The browser releases a lock when its tab is closed. */
function hold(locks: LockManager, name: string, options: LockOptions): Promise<Release | undefined> {
  return new Promise((resolve, reject) => {
    const holding = (lock: Lock | null) =>
      lock ? new Promise<void>((release) => resolve(release)) : resolve(undefined);
    locks.request(name, options, holding).catch(reject);
  });
}

function ownSlots(places: number): Slots {
  let taken = 0;
  return {
    async acquire() {
      if (taken >= places) return undefined;
      taken += 1;
      let isHeld = true;
      return () => {
        if (isHeld) taken -= 1;
        isHeld = false;
      };
    },
  };
}

function ownTurn(): Turn {
  let last: Promise<void> = Promise.resolve();
  return async (signal) => {
    const before = last;
    let release: Release = () => undefined;
    last = new Promise((resolve) => {
      release = resolve;
    });
    try {
      await unlessAborted(before, signal);
    } catch (error) {
      before.then(release); // later requests still wait for the earlier ones
      throw error;
    }
    return release;
  };
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}

const browserLocks = typeof navigator === "undefined" ? undefined : navigator.locks;

export const browserSlots: Slots = slotsOver(browserLocks);
export const browserTurn: Turn = turnOver(browserLocks);
