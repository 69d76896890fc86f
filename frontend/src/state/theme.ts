// Applies the theme as an attribute of <html>, which the colour tokens depend on.
import { SETTINGS_KEY, Settings, type Theme } from "./settings.ts";

export function showTheme(theme: Theme, root: HTMLElement = document.documentElement): void {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

/** Apply the stored theme, now and whenever another tab changes it. */
export function followTheme(events: EventTarget = window): () => void {
  const applyTheme = () => showTheme(new Settings().state.theme);
  const onStorage = (event: Event) => {
    const { key } = event as StorageEvent;
    // A null key means that the storage was cleared.
    if (key === SETTINGS_KEY || key === null) applyTheme();
  };
  applyTheme();
  events.addEventListener("storage", onStorage);
  return () => events.removeEventListener("storage", onStorage);
}
