// Where the operator is on the page: the section and the filter of runs, both in the address, so that a view can be shared.
import { filterQuery, type RunFilter, readFilter } from "../../logic/pages/runFilter.ts";
import { isSection, type SectionName } from "../../logic/pages/sections.ts";
import { Store } from "../store.ts";

export interface PlaceState {
  section: SectionName;
  filter: RunFilter;
}

const readPlace = (): PlaceState => {
  const name = location.hash.slice(1);
  return { section: isSection(name) ? name : "loop", filter: readFilter(location.search) };
};

export class Place extends Store<PlaceState> {
  constructor() {
    super(readPlace());
  }

  /** Follow links to other sections, and the browser's back button. */
  follow(): () => void {
    const follow = () => this.set(readPlace());
    window.addEventListener("hashchange", follow);
    window.addEventListener("popstate", follow);
    return () => {
      window.removeEventListener("hashchange", follow);
      window.removeEventListener("popstate", follow);
    };
  }

  setFilter(filter: RunFilter): void {
    history.replaceState(null, "", `${location.pathname}${filterQuery(filter)}${location.hash}`);
    this.set({ filter });
    this.flush(); // a text field must show the typed letter in the same frame
  }
}
