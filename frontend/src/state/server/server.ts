// The server of this page. All requests of the page go to it.
import { type ApiClient, createClient } from "@signalbox/client/requests";
import { BASE_URL } from "../../logic/baseUrl.ts";
import { csrfHeaders } from "./csrfToken.ts";

export { BASE_URL };

/** A client that sends the current token, or the CSRF token of the session. */
export const connect = (token: () => string): ApiClient =>
  createClient({ baseUrl: BASE_URL, token, headers: csrfHeaders });
