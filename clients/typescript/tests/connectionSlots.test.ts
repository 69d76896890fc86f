import { describe, expect, it } from "vitest";
import { type Release, type Slots, slotsOver, turnOver } from "../src/requests/connectionSlots.ts";

type Waiting = { name: string; grant: () => void };

/** The used part of the Web Locks API. */
class Locks {
  readonly held = new Set<string>();
  #waiting: Waiting[] = [];

  request(name: string, options: LockOptions, callback: (lock: Lock | null) => unknown): Promise<unknown> {
    if (options.ifAvailable && options.signal) return Promise.reject(new TypeError("not both"));
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    if (!this.held.has(name)) return this.#run(name, callback);
    if (options.ifAvailable) return Promise.resolve(callback(null));
    return new Promise((resolve, reject) => {
      const waiting = { name, grant: () => resolve(this.#run(name, callback)) };
      this.#waiting.push(waiting);
      options.signal?.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(options.signal?.reason);
      });
    });
  }

  async #run(name: string, callback: (lock: Lock | null) => unknown): Promise<void> {
    this.held.add(name);
    try {
      await callback({ name, mode: "exclusive" } as Lock);
    } finally {
      this.held.delete(name);
      const next = this.#waiting.find((one) => one.name === name);
      this.#waiting = this.#waiting.filter((one) => one !== next);
      next?.grant();
    }
  }

  get manager(): LockManager {
    return this as unknown as LockManager;
  }
}

const forbidden = {
  request: () => Promise.reject(new DOMException("no origin", "SecurityError")),
} as unknown as LockManager;

const never = () => new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

async function takeAll(...tabs: Slots[]): Promise<Release[]> {
  const taken: Release[] = [];
  for (let turn = 0; turn < 9; turn++) {
    const release = await tabs[turn % tabs.length]?.acquire(never());
    if (release) taken.push(release);
  }
  return taken;
}

describe("live streams", () => {
  it("are four over all tabs, and one that ends frees its slot", async () => {
    const { manager, held } = new Locks();
    const [one, two] = [slotsOver(manager), slotsOver(manager)];
    const taken = await takeAll(one, two);
    expect(taken.length).toBe(4);
    expect([...held]).toEqual([1, 2, 3, 4].map((number) => `signalbox-stream-${number}`));
    taken[1]?.();
    taken[1]?.();
    await tick();
    expect((await takeAll(two, one)).length).toBe(1);
  });

  it.each([
    ["has no locks", undefined],
    ["forbids them", forbidden],
  ])("are four in this tab where the browser %s", async (_, locks) => {
    const slots = slotsOver(locks);
    const taken = await takeAll(slots);
    expect(taken.length).toBe(4);
    taken[0]?.();
    taken[0]?.();
    expect((await takeAll(slots)).length).toBe(1);
  });

  it("are not acquired after an abort", async () => {
    const locks = new Locks();
    expect(await slotsOver(locks.manager).acquire(AbortSignal.abort())).toBeUndefined();
    expect(locks.held.size).toBe(0);
  });
});

const own = turnOver(undefined);
const spoiled = turnOver(forbidden);
const shared = new Locks();
describe.each([
  ["over tabs", [turnOver(shared.manager), turnOver(shared.manager)]],
  ["in a tab without locks", [own, own]],
  ["in a tab that may not lock", [spoiled, spoiled]],
] as const)("turns %s", (_, [here, there]) => {
  it("are one at a time, in order, and an aborted request does not block others", async () => {
    const told: string[] = [];
    const leaving = new AbortController();
    const taken = async (turn: typeof here, name: string, signal = never()) => {
      const release = await turn(signal);
      told.push(name);
      return release;
    };
    const first = await taken(here, "first");
    const left = taken(there, "left", leaving.signal).catch((error: unknown) => told.push(String(error)));
    const second = taken(there, "second");
    const third = taken(here, "third");
    await tick();
    expect(told).toEqual(["first"]);
    leaving.abort("gone");
    await left;
    await tick();
    expect(told).toEqual(["first", "gone"]);
    first();
    (await second)();
    (await third)();
    expect(told).toEqual(["first", "gone", "second", "third"]);
  });

  it("are not granted after an abort", async () => {
    await expect(here(AbortSignal.abort("gone"))).rejects.toBe("gone");
    (await there(never()))();
  });
});
