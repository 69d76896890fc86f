// Which model answers, or which models answer side by side.
import type { Signalbox } from "../../hooks/signalbox.ts";
import { useStore } from "../../hooks/store.ts";
import { ComparePicker } from "../picker/ComparePicker.tsx";
import { ModelPicker } from "../picker/ModelPicker.tsx";

interface Props {
  box: Signalbox;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function Pickers({ box: { session, settings }, open, onOpenChange }: Props) {
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
    return <ComparePicker {...shared} chosen={compared} onChange={(chosen) => settings.change({ compared: chosen })} />;
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
