// The user's settings, stored by the browser: request settings, favourite models, and appearance.

import { ownKey } from "../logic/baseUrl.ts";
import { RANGES } from "../logic/request/parameters.ts";
import { NO_FORMAT, readFormat } from "../logic/request/responseFormat.ts";
import { readChoice } from "../logic/request/toolChoice.ts";
import { EFFORTS, type Effort, type Parameters, type RequestSettings } from "../types/api.ts";
import { type Schedule, Store } from "./store.ts";

export type Theme = "system" | "light" | "dark";
/** Whether reasoning panels open automatically, or stay open or closed. */
export type ReasoningChoice = "automatic" | "open" | "closed";

export interface SettingsState {
  ask: RequestSettings;
  /** Recently used models, newest first. */
  recent: readonly string[];
  starred: readonly string[];
  theme: Theme;
  reasoning: ReasoningChoice;
  /** The sidebar is open. */
  sidebar: boolean;
  /** The panel with files opens automatically. */
  filesPanel: boolean;
  /** The compared models. Empty if only one model answers. */
  compared: readonly string[];
  /** How often one model answers each message, from 1 to `MOST_COMPARED`. */
  variants: number;
}

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export const SETTINGS_KEY = ownKey("signalbox.settings");
const VERSION = 1;
const OLD_MODEL = ownKey("signalbox.model");
const OLD_EFFORT = ownKey("signalbox.effort");

const RECENT = 8;
const STARRED = 100;
export const MOST_COMPARED = 4;
/** The numbers of variants that can be chosen. */
export const VARIANTS: readonly number[] = Array.from({ length: MOST_COMPARED }, (_, at) => at + 1);

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const REASONING: readonly ReasoningChoice[] = ["automatic", "open", "closed"];

export const FIRST_SETTINGS: SettingsState = {
  ask: {
    model: "",
    effort: "auto",
    parameters: {},
    toolsOff: [],
    files: true,
    toolChoice: "",
    format: NO_FORMAT,
    system: "",
  },
  recent: [],
  starred: [],
  theme: "system",
  reasoning: "automatic",
  sidebar: true,
  filesPanel: true,
  compared: [],
  variants: 1,
};

/** The browser's storage. Undefined if it is denied; then settings last as long as the page. */
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
    super(readSettings(box) ?? migrateSettings(box), schedule);
    this.#box = box;
  }

  change(patch: Partial<SettingsState>): void {
    this.set(patch);
    this.flush();
    // Based on the stored state, because another tab may have changed it.
    writeSettings({ ...(readSettings(this.#box) ?? this.state), ...patch }, this.#box);
  }

  changeAsk(patch: Partial<RequestSettings>): void {
    this.change({ ask: { ...this.state.ask, ...patch } });
  }

  /** Add or remove a star. */
  star(id: string): void {
    const { starred } = this.state;
    const rest = starred.filter((other) => other !== id);
    this.change({ starred: rest.length < starred.length ? rest : [...starred, id].slice(-STARRED) });
  }

  /** A message was sent to this model. */
  used(id: string): void {
    if (!id || this.state.recent[0] === id) return;
    this.change({ recent: [id, ...this.state.recent.filter((other) => other !== id)].slice(0, RECENT) });
  }

  /** Follow changes of favourites and appearance in other tabs. Request settings are separate for each tab. */
  follow(events: EventTarget = window): () => void {
    const onStorage = (event: Event) => {
      const { key } = event as StorageEvent;
      // A null key means that the storage was cleared.
      if (key !== SETTINGS_KEY && key !== null) return;
      const { recent, starred, theme } = readSettings(this.#box) ?? FIRST_SETTINGS;
      this.set({ recent, starred, theme });
      this.flush();
    };
    events.addEventListener("storage", onStorage);
    return () => events.removeEventListener("storage", onStorage);
  }
}

function writeSettings(state: SettingsState, box: Box | undefined): void {
  try {
    box?.setItem(SETTINGS_KEY, JSON.stringify({ version: VERSION, ...state }));
  } catch {
    // The storage is full or denied. The settings last as long as the page.
  }
}

/** Read the stored settings field by field. Undefined if there are none of this version. */
function readSettings(box: Box | undefined): SettingsState | undefined {
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
      filesPanel: saved.filesPanel !== false,
      compared: texts(saved.compared).slice(0, MOST_COMPARED),
      variants: oneOf(VARIANTS, saved.variants, 1),
    };
  } catch {
    return undefined;
  }
}

const readAsk = (saved: Readonly<Record<string, unknown>>): RequestSettings => ({
  model: text(saved.model),
  effort: oneOf<Effort>(EFFORTS, saved.effort, "auto"),
  parameters: readParameters(fields(saved.parameters)),
  toolsOff: texts(saved.toolsOff),
  files: saved.files !== false,
  toolChoice: readChoice(saved.toolChoice),
  format: readFormat(saved.format),
  system: text(saved.system),
});

const readParameters = (saved: Readonly<Record<string, unknown>>): Parameters =>
  Object.fromEntries(
    Object.entries(saved).filter(([name, value]) => Object.hasOwn(RANGES, name) && Number.isFinite(value)),
  );

/** Migrate the model and effort that older versions stored under separate keys. */
function migrateSettings(box: Box | undefined): SettingsState {
  try {
    const model = text(box?.getItem(OLD_MODEL));
    const effort = oneOf<Effort>(EFFORTS, box?.getItem(OLD_EFFORT), "auto");
    const state = { ...FIRST_SETTINGS, ask: { ...FIRST_SETTINGS.ask, model, effort } };
    if (model || effort !== "auto") writeSettings(state, box);
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

/** Each text once. */
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? [...new Set(value.filter((item) => typeof item === "string" && item !== ""))] : [];

const oneOf = <T extends string | number>(all: readonly T[], value: unknown, otherwise: T): T =>
  all.find((one) => one === value) ?? otherwise;
