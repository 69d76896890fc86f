// Shows what the reader chose before anything is painted: the theme, and whether the list of conversations is open.
// state/theme.ts and the page itself do so again, and follow changes. Enter in the message box waits for the page's scripts.
{
  const { dataset } = document.documentElement;
  // As BASE_URL in src/logic/baseUrl.ts: this script is a file beside the page, or inline in the page.
  const base = new URL(".", document.currentScript.src || location.href).pathname.slice(0, -1);
  // A chat that is opened by its address does not begin with the empty page.
  if (location.hash.length > 1) dataset.opens = "chat";
  try {
    const { theme, sidebar } = JSON.parse(localStorage.getItem(`signalbox.settings${base}`));
    if (theme === "light" || theme === "dark") dataset.theme = theme;
    if (sidebar === false) dataset.sidebar = "closed";
  } catch {
    // Nothing was chosen, or the browser keeps nothing: the system's theme is the right one.
  }
  // It sends, once the page can: until then the text stays in the box, and src/state/early.ts is told what to send.
  addEventListener("keydown", (event) => {
    const sends = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!sends || !event.target.closest?.("[data-shell]")) return;
    event.preventDefault();
    event.target.dataset.entered = event.target.value;
  });
}
