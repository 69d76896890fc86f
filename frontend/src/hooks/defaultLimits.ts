// The server's limits for a question that sets none: asked for when the settings open.
import { useEffect, useState } from "react";
import type { ApiClient } from "../stream/client.ts";
import { fetchLimits } from "../stream/models.ts";
import type { Parameters } from "../types/api.ts";

const NONE: Parameters = {};

/** Empty until they have come, and where they do not: the sliders then rest where most servers do. */
export function useDefaultLimits(client: ApiClient): Parameters {
  const [limits, setLimits] = useState(NONE);
  useEffect(() => {
    let isLeft = false;
    // That the server cannot be asked is said where its list of tools is missing.
    void fetchLimits(client).then(
      (found) => !isLeft && setLimits(found),
      () => undefined,
    );
    return () => {
      isLeft = true;
    };
  }, [client]);
  return limits;
}
