import { describe, expect, it } from "vitest";
import { newIdempotencyKey } from "../src/requests/idempotencyKeys.ts";

describe("a question's key", () => {
  it("is different each time, also at an insecure address", () => {
    const plain = { getRandomValues: crypto.getRandomValues.bind(crypto) } as Crypto;
    const keys = [newIdempotencyKey(), newIdempotencyKey(), newIdempotencyKey(plain), newIdempotencyKey(plain)];
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{32,36}$/);
  });
});
