// The keyboard shortcuts of the page, named as on the user's keyboard.
import { isMac } from "../../hooks/shortcuts.ts";
import { keyNames, SHORTCUT_NAMES, SHORTCUTS, VARIANTS, WRITING } from "../../logic/chat/shortcuts.ts";
import { Dialog } from "../ui/Dialog.tsx";

interface Line {
  does: string;
  keys: readonly (readonly string[])[];
}

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const mac = isMac();
  const everywhere = SHORTCUT_NAMES.map((name) => SHORTCUTS[name]).map(({ does, keys }) => ({
    does,
    keys: keys.map((one) => keyNames(one, mac)),
  }));
  const variants = { does: VARIANTS.does, keys: [keyNames(VARIANTS.keys, mac)] };
  const writing = WRITING.map(({ does, keys }) => ({ does, keys: [keyNames(keys, mac)] }));
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <section className="overflow-y-auto px-4 pb-4" tabIndex={0} aria-label="Shortcuts">
        <Lines title="Everywhere" lines={[...everywhere, variants]} />
        <Lines title="While typing" lines={writing} />
      </section>
    </Dialog>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly Line[] }) {
  return (
    <section>
      <h3 className="pt-2 pb-1 text-dim text-small">{title}</h3>
      <dl>
        {lines.map(({ does, keys }) => (
          <div key={does} className="flex items-center justify-between gap-4 border-edge border-t py-1.5 text-small">
            <dt>{does}</dt>
            <dd className="flex shrink-0 items-center gap-2">
              {keys.map((one, at) => (
                <span key={one.join()} className="flex items-center gap-1">
                  {at > 0 && <span className="pe-1 text-dim">or</span>}
                  {one.map((key) => (
                    <kbd
                      key={key}
                      className="min-w-6 rounded-sm border border-edge bg-sunken px-1.5 py-0.5 text-center font-sans text-tiny"
                    >
                      {key}
                    </kbd>
                  ))}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
