// Light, dark or as the system has it: shown by an attribute of <html>, which the tokens follow.
import { SETTINGS_KEY, Settings, type Theme } from "./settings.ts";

export function showTheme(theme: Theme, root: HTMLElement = document.documentElement): void {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

/** Show what the reader chose, now and whenever another tab chooses anew. */
export function followTheme(events: EventTarget = window): () => void {
  const read = () => showTheme(new Settings().state.theme);
  const onStorage = (event: Event) => {
    const { key } = event as StorageEvent;
    // A null key: everything was cleared.
    if (key === SETTINGS_KEY || key === null) read();
  };
  read();
  events.addEventListener("storage", onStorage);
  return () => events.removeEventListener("storage", onStorage);
}
