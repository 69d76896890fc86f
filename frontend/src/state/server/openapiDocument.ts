// Loads the server's OpenAPI document.
import { type Reference, referenceOf } from "../../logic/pages/openapi.ts";
import { createClient } from "../../stream/client.ts";
import { accessToken } from "./accessToken.ts";

export async function loadReference(): Promise<Reference> {
  const response = await createClient({ token: accessToken.read }).request("/openapi.json");
  return referenceOf(await response.json());
}
