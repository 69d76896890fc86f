import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Retry } from "./retry.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("what failed", () => {
  it("is tried soon a few times, then now and then", () => {
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

  it("is not tried after it has succeeded, and begins anew with the next failure", () => {
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
