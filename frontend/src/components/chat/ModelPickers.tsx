// The picker for the model that answers, or for the models that are compared.
import { lazy, Suspense } from "react";
import { retried } from "../../state/retriedLoad.ts";
import type { Settings } from "../../state/settings.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import { ModelPicker } from "../picker/ModelPicker.tsx";

const ComparePicker = lazy(() =>
  retried(() => import("../picker/ComparePicker.tsx").then((room) => ({ default: room.ComparePicker }))),
);

interface Props {
  box: Signalbox;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function ModelPickers({ box: { session, settings }, open, onOpenChange }: Props) {
  const { models, preferred, readiness } = useStore(session);
  const { ask, recent, starred, compared } = useStore(settings);
  const shared = {
    models,
    recent,
    starred,
    onStar: (id: string) => settings.star(id),
    simulated: readiness?.simulated === true,
  };
  if (compared.length > 1) {
    return (
      <Suspense>
        <ComparePicker {...shared} chosen={compared} onChange={(chosen) => compare(settings, chosen)} />
      </Suspense>
    );
  }
  return (
    <ModelPicker
      {...shared}
      value={ask.model || preferred}
      onChange={(model) => settings.changeAsk({ model })}
      open={open}
      onOpenChange={onOpenChange}
    />
  );
}

/** Removing the second-to-last model ends the comparison. */
function compare(settings: Settings, chosen: readonly string[]): void {
  const [only, ...others] = chosen;
  if (only !== undefined && others.length === 0)
    settings.change({ compared: [], ask: { ...settings.state.ask, model: only } });
  else settings.change({ compared: chosen });
}
