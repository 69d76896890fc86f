// Retries failed dynamic imports, so that a lost connection is not final.
import { browserPage, sleep } from "@signalbox/client/requests";

/** The delays before each retry. Being online again ends a delay. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000];
/** The delay while the browser is offline. These retries are not counted. */
const OFFLINE_DELAY_MS = 10_000;
const NEVER = new AbortController().signal;

/** Load a module with retries. Chromium before 156 caches failed imports, so there only a reload of the page helps. */
export async function retried<Value>(load: () => Promise<Value>): Promise<Value> {
  for (let retries = 0; ; ) {
    try {
      return await load();
    } catch (error) {
      const delay = browserPage.isOffline() ? OFFLINE_DELAY_MS : RETRY_DELAYS_MS[retries++];
      if (delay === undefined) throw error;
      await sleep(delay, NEVER, browserPage);
    }
  }
}
