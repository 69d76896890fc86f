import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SILENCE_MS, SilenceTimer } from "./modelSilence.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watching() {
  const told: (number | undefined)[] = [];
  const state = { isExcused: false };
  const watch = new SilenceTimer({
    now: () => performance.now(),
    isExcused: () => state.isExcused,
    onSilence: (since) => told.push(since),
  });
  return { watch, told, state };
}

describe("detection of a silent model", () => {
  it("reports once, after the whole time, since when nothing arrived", () => {
    const { watch, told } = watching();
    const since = performance.now();
    watch.restart();
    vi.advanceTimersByTime(SILENCE_MS - 1);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual([since]);
    vi.advanceTimersByTime(10 * SILENCE_MS);
    expect(told).toHaveLength(1);
  });

  it("restarts with each output of the model, and withdraws its report", () => {
    const { watch, told } = watching();
    watch.restart();
    vi.advanceTimersByTime(SILENCE_MS - 1000);
    watch.restart();
    vi.advanceTimersByTime(SILENCE_MS - 1);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    watch.restart();
    expect(told).toEqual([expect.any(Number), undefined]);
    vi.advanceTimersByTime(SILENCE_MS);
    expect(told).toHaveLength(3);
  });

  it("uses one timer, however many tokens arrive", () => {
    const { watch } = watching();
    for (let token = 0; token < 1000; token += 1) watch.restart();
    expect(vi.getTimerCount()).toBe(1);
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("reports nothing while something else is pending, and then restarts", () => {
    const { watch, told, state } = watching();
    state.isExcused = true;
    watch.restart();
    vi.advanceTimersByTime(5 * SILENCE_MS);
    expect(told).toEqual([]);
    state.isExcused = false;
    watch.restart();
    vi.advanceTimersByTime(SILENCE_MS - 1);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(told).toHaveLength(1);
  });

  it("withdraws its report when the run is over", () => {
    const { watch, told } = watching();
    watch.restart();
    vi.advanceTimersByTime(SILENCE_MS);
    watch.stop();
    expect(told.at(-1)).toBeUndefined();
    vi.advanceTimersByTime(5 * SILENCE_MS);
    expect(told).toHaveLength(2);
  });
});
