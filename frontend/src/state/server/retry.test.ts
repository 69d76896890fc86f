import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Retry } from "./retry.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a retry", () => {
  it("comes soon a few times, then at a fixed interval", () => {
    const times: number[] = [];
    const begun = Date.now();
    const isSoon: boolean[] = [];
    const retry = new Retry(() => {
      times.push(Date.now() - begun);
      isSoon.push(retry.failed());
    }, 10_000);
    retry.failed();
    vi.advanceTimersByTime(30_000);
    expect(times).toEqual([500, 1500, 3500, 7500, 17_500, 27_500]);
    expect(isSoon).toEqual([true, true, true, false, false, false]);
  });

  it("stops after a success, and starts over with the next failure", () => {
    const run = vi.fn();
    const retry = new Retry(run, 10_000);
    retry.failed();
    retry.failed();
    retry.stop();
    vi.advanceTimersByTime(60_000);
    expect(run).not.toHaveBeenCalled();
    retry.failed();
    vi.advanceTimersByTime(500);
    expect(run).toHaveBeenCalledTimes(1);
  });
});
