// Under the message box: how long the chat is kept, and where else to go.
export function FootLine({ kept }: { kept: boolean }) {
  return (
    <p className="foot-line">
      {kept && <span>A reload keeps this chat, closing the tab forgets it.</span>}
      <a href="/guide/">Guide</a>
      <a href="/docs">API</a>
      <a href="/operator">Operator</a>
    </p>
  );
}
