// A menu that opens from a button. Its code loads after the first paint; until then only the button is shown.
import { Suspense } from "react";
import { later } from "./later.tsx";
import type { MenuProps } from "./MenuParts.tsx";

const load = () => import("./MenuParts.tsx");

export const MenuBox = later(() => load().then((parts) => parts.Menu));
export const MenuItem = later(() => load().then((parts) => parts.MenuItem));
export const MenuLine = later(() => load().then((parts) => parts.MenuLine));

export function Menu(props: MenuProps) {
  return (
    <Suspense fallback={props.trigger}>
      <MenuBox {...props} />
    </Suspense>
  );
}

export async function preloadMenu(): Promise<void> {
  await Promise.all([MenuBox, MenuItem, MenuLine].map((part) => part.preload()));
}
