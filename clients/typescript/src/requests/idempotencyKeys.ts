// Idempotency keys: a request that is sent again with the same key is executed once.

/** 128 random bits. `crypto.randomUUID` needs a secure origin, and the page may be served at plain http. */
export function newIdempotencyKey(random: Crypto = crypto): string {
  if (typeof random.randomUUID === "function") return random.randomUUID();
  const bytes = random.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
