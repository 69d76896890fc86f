// Shows the theme that the reader chose before anything is painted; hooks/theme.ts does so again, and follows changes.
try {
  const { theme } = JSON.parse(localStorage.getItem("signalbox.settings"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Nothing was chosen, or the browser keeps nothing: the system's theme is the right one.
}
