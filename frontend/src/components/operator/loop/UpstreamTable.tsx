// The upstreams of upstreams.toml, and whether their circuit breakers let requests through.
import { upstreamLamp, upstreamText } from "../../../logic/pages/operator.ts";
import type { UpstreamLine } from "../../../types/models.ts";
import { Lamp } from "../../ui/Lamp.tsx";
import { ActionButton } from "../ActionButton.tsx";

interface Props {
  upstreams: readonly UpstreamLine[];
  onReload: () => Promise<void>;
}

export function UpstreamTable({ upstreams, onReload }: Props) {
  return (
    <section aria-labelledby="upstreams" className="grid gap-2">
      <header className="flex flex-wrap items-center gap-2">
        <h2 id="upstreams" className="me-auto font-semibold">
          Upstreams
        </h2>
        <ActionButton run={onReload} busy="Reloading…" failed="Not reloaded." done="Reloaded">
          Reload upstreams.toml
        </ActionButton>
      </header>
      <p className="text-dim text-small">
        After a reload, new runs use the new file. Active runs keep their upstreams. An invalid file changes nothing.
      </p>
      <ul className="overflow-hidden rounded-md border border-edge text-small">
        {upstreams.map((upstream) => (
          <li
            key={upstream.name}
            data-part="upstream"
            className="flex flex-wrap items-center gap-x-3 border-edge px-4 py-2 not-first:border-t"
          >
            <Lamp lamp={upstreamLamp(upstream)} />
            <span className="font-medium">{upstream.name}</span>
            <span className="text-dim">
              {upstream.host} · {upstream.dialect}
            </span>
            <span className="ms-auto">{upstreamText(upstream)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
