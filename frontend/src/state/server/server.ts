// The server of this page. All requests of the page go to it.
import { type ApiClient, createClient } from "@signalbox/client/requests";
import { BASE_URL } from "../../logic/baseUrl.ts";

export { BASE_URL };

/** A client that sends the current token. */
export const connect = (token: () => string): ApiClient => createClient({ baseUrl: BASE_URL, token });
