// Sign-in of people: who is signed in, and the way to the sign-in service and back.
import { serverPath } from "../../logic/baseUrl.ts";
import { tabStorage } from "../browserStorage.ts";
import { sendAfterToken } from "../chat/unconfirmedMessages.ts";
import { accessToken } from "./accessToken.ts";
import { connect } from "./server.ts";

export interface Person {
  signedIn: boolean;
  name: string;
  isOperator: boolean;
  /** How people sign in on this server. Undefined if they do not. */
  signIn: "oidc" | "proxy" | undefined;
}

const withoutToken = () => connect(() => "");

/** Who the session or the proxy says this is. Tokens do not count. Throws ApiError. */
export async function fetchPerson(): Promise<Person> {
  const response = await withoutToken().request("/api/session", { cache: "no-store" });
  const { signed_in, name, role, sign_in } = ((await response.json()) ?? {}) as Record<string, unknown>;
  return {
    signedIn: signed_in === true,
    name: typeof name === "string" ? name : "",
    isOperator: role === "operator",
    signIn: sign_in === "oidc" || sign_in === "proxy" ? sign_in : undefined,
  };
}

/** The address that leads to the sign-in service, and then back to this page. */
export const signInAddress = ({ pathname, search, hash }: Location): string =>
  `${serverPath("/auth/login")}?${new URLSearchParams({ next: `${pathname}${search}${hash}` })}`;

/**
 * Leave for the sign-in service. Drafts and waiting messages stay in this tab, and messages that were rejected are sent
 * afterwards. A rejected token would win over the session, so it is removed.
 */
export function goToSignIn(go = (address: string) => location.assign(address)): void {
  sendAfterToken(tabStorage());
  if (accessToken.read()) accessToken.forget();
  go(signInAddress(location));
}

/** End the session, then reload. Throws ApiError. */
export async function signOut(reload = () => location.reload()): Promise<void> {
  await withoutToken().request("/auth/logout", { method: "POST" });
  reload();
}
