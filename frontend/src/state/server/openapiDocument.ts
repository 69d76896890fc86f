// Loads the server's OpenAPI document.

import { type Reference, referenceOf } from "../../logic/pages/openapi.ts";
import { accessToken } from "./accessToken.ts";
import { connect } from "./server.ts";

export async function loadReference(): Promise<Reference> {
  const response = await connect(accessToken.read).request("/openapi.json");
  return referenceOf(await response.json());
}
