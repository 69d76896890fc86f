// Names for questions: the same question under the same name is asked once, however often it is sent.

/** 128 random bits. `crypto.randomUUID` is there on secure addresses only, and a page may be served at a plain one. */
export function newKey(random: Crypto = crypto): string {
  if (typeof random.randomUUID === "function") return random.randomUUID();
  const bytes = random.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
