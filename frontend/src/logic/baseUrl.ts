// The path under which the server serves this page.

/** The build puts all scripts into one folder below the page. */
const SCRIPT = /^(.*)\/assets\/[^/]+$/;

/** `/chat` if the page is at `/chat/`, empty at the root of its origin. */
export const BASE_URL = SCRIPT.exec(new URL(import.meta.url).pathname)?.[1] ?? "";

/** The address of a path on the server, such as `/guide/`. */
export const serverPath = (path: string): string => `${BASE_URL}${path}`;

/** The name of a value that the browser stores, or of a channel between tabs. Each server on an origin has its own. */
export const ownKey = (name: string): string => `${name}${BASE_URL}`;
