// The CSRF token of a person who is signed in. The server puts it into a cookie that scripts can read.

const COOKIES = [/(?:^|; )__Host-signalbox-csrf=([^;]+)/, /(?:^|; )signalbox-csrf=([^;]+)/];

/** Undefined without a sign-in. The session may have ended since. */
export function csrfToken(cookies = globalThis.document?.cookie ?? ""): string | undefined {
  for (const cookie of COOKIES) {
    const token = cookie.exec(cookies)?.[1];
    if (token !== undefined) return token;
  }
  return undefined;
}

/** A request that changes something needs the token. */
export function csrfHeaders({ method = "GET" }: RequestInit): Record<string, string> {
  const token = method === "GET" ? undefined : csrfToken();
  return token === undefined ? {} : { "x-csrf-token": token };
}
