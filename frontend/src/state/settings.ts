// What the reader has set, kept by the browser over visits: how questions are asked, favourite models, and looks.

import { RANGES } from "../run/request/parameters.ts";
import { NO_FORMAT, readFormat } from "../run/request/responseFormat.ts";
import { readChoice } from "../run/request/toolChoice.ts";
import { type AskSettings, EFFORTS, type Effort, type Parameters } from "../types/api.ts";
import { type Schedule, Store } from "./store.ts";

export type Theme = "system" | "light" | "dark";
/** Whether reasoning panels open and fold automatically, or stay as the reader wants them. */
export type ReasoningChoice = "automatic" | "open" | "closed";

export interface SettingsState {
  ask: AskSettings;
  /** Models asked lately, the newest first. */
  recent: readonly string[];
  starred: readonly string[];
  theme: Theme;
  reasoning: ReasoningChoice;
  /** Whether the list of conversations is shown. */
  sidebar: boolean;
  /** The models that answer side by side; empty: one model answers. */
  compared: readonly string[];
}

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export const SETTINGS_KEY = "signalbox.settings";
const VERSION = 1;
const OLD_MODEL = "signalbox.model";
const OLD_EFFORT = "signalbox.effort";

const RECENT = 8;
const STARRED = 100;
export const MOST_COMPARED = 4;

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const REASONING: readonly ReasoningChoice[] = ["automatic", "open", "closed"];

export const FIRST_SETTINGS: SettingsState = {
  ask: { model: "", effort: "auto", parameters: {}, toolsOff: [], toolChoice: "", format: NO_FORMAT, system: "" },
  recent: [],
  starred: [],
  theme: "system",
  reasoning: "automatic",
  sidebar: true,
  compared: [],
};

/** The browser's box; undefined where it keeps nothing, and then the settings live as long as the page. */
export function browserBox(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

export class Settings extends Store<SettingsState> {
  readonly #box: Box | undefined;

  constructor(box: Box | undefined = browserBox(), schedule?: Schedule) {
    super(read(box) ?? takeOver(box), schedule);
    this.#box = box;
  }

  change(patch: Partial<SettingsState>): void {
    this.set(patch);
    this.flush();
    // On top of what is kept now: another tab may have starred a model in the meantime.
    write({ ...(read(this.#box) ?? this.state), ...patch }, this.#box);
  }

  changeAsk(patch: Partial<AskSettings>): void {
    this.change({ ask: { ...this.state.ask, ...patch } });
  }

  /** Star a model, or take its star away. */
  star(id: string): void {
    const { starred } = this.state;
    const rest = starred.filter((other) => other !== id);
    this.change({ starred: rest.length < starred.length ? rest : [...starred, id].slice(-STARRED) });
  }

  /** A question went to this model. */
  used(id: string): void {
    if (!id || this.state.recent[0] === id) return;
    this.change({ recent: [id, ...this.state.recent.filter((other) => other !== id)].slice(0, RECENT) });
  }

  /** Follow what other tabs change of favourites and looks; how this tab asks stays its own. */
  follow(events: EventTarget = window): () => void {
    const onStorage = (event: Event) => {
      const { key } = event as StorageEvent;
      // A null key: everything was cleared.
      if (key !== SETTINGS_KEY && key !== null) return;
      const { recent, starred, theme } = read(this.#box) ?? FIRST_SETTINGS;
      this.set({ recent, starred, theme });
      this.flush();
    };
    events.addEventListener("storage", onStorage);
    return () => events.removeEventListener("storage", onStorage);
  }
}

function write(state: SettingsState, box: Box | undefined): void {
  try {
    box?.setItem(SETTINGS_KEY, JSON.stringify({ version: VERSION, ...state }));
  } catch {
    // A full or forbidden box: the settings hold for this page.
  }
}

/** What was kept, field by field; undefined where nothing of this version was. */
function read(box: Box | undefined): SettingsState | undefined {
  try {
    const saved = fields(JSON.parse(box?.getItem(SETTINGS_KEY) ?? "null"));
    if (saved.version !== VERSION) return undefined;
    return {
      ask: readAsk(fields(saved.ask)),
      recent: texts(saved.recent).slice(0, RECENT),
      starred: texts(saved.starred).slice(0, STARRED),
      theme: oneOf(THEMES, saved.theme, FIRST_SETTINGS.theme),
      reasoning: oneOf(REASONING, saved.reasoning, FIRST_SETTINGS.reasoning),
      sidebar: typeof saved.sidebar === "boolean" ? saved.sidebar : FIRST_SETTINGS.sidebar,
      compared: texts(saved.compared).slice(0, MOST_COMPARED),
    };
  } catch {
    return undefined;
  }
}

const readAsk = (saved: Readonly<Record<string, unknown>>): AskSettings => ({
  model: text(saved.model),
  effort: oneOf<Effort>(EFFORTS, saved.effort, "auto"),
  parameters: readParameters(fields(saved.parameters)),
  toolsOff: texts(saved.toolsOff),
  toolChoice: readChoice(saved.toolChoice),
  format: readFormat(saved.format),
  system: text(saved.system),
});

const readParameters = (saved: Readonly<Record<string, unknown>>): Parameters =>
  Object.fromEntries(
    Object.entries(saved).filter(([name, value]) => Object.hasOwn(RANGES, name) && Number.isFinite(value)),
  );

/** The model and the effort that an older page kept under separate keys; read once. */
function takeOver(box: Box | undefined): SettingsState {
  try {
    const model = text(box?.getItem(OLD_MODEL));
    const effort = oneOf<Effort>(EFFORTS, box?.getItem(OLD_EFFORT), "auto");
    const state = { ...FIRST_SETTINGS, ask: { ...FIRST_SETTINGS.ask, model, effort } };
    if (model || effort !== "auto") write(state, box);
    box?.removeItem(OLD_MODEL);
    box?.removeItem(OLD_EFFORT);
    return state;
  } catch {
    return FIRST_SETTINGS;
  }
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Every text once. */
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? [...new Set(value.filter((item) => typeof item === "string" && item !== ""))] : [];

const oneOf = <T extends string>(all: readonly T[], value: unknown, otherwise: T): T =>
  all.find((one) => one === value) ?? otherwise;
