// How a question is asked: what a model takes, the ranges of its parameters, and what of the settings is sent.
import type { AskSettings, Effort, Model, ParameterName, Parameters, Tool } from "../types/api.ts";
import type { ChatBody } from "../types/models.ts";

export interface Range {
  label: string;
  /** What it does, as a sentence. */
  help: string;
  min: number;
  /** Undefined: as large as one likes. */
  max: number | undefined;
  /** As far as a slider goes; undefined: a number of which no slider makes sense. */
  slider: number | undefined;
  step: number;
  /** Where the slider stands while nothing is set. */
  rest: number;
}

/** As the API takes them; in the order in which they are shown. */
export const RANGES: Record<ParameterName, Range> = {
  temperature: {
    label: "Temperature",
    help: "Low is sober, high is surprising.",
    ...{ min: 0, max: 2, slider: 2, step: 0.05, rest: 1 },
  },
  top_p: {
    label: "Top P",
    help: "Only the likeliest words that together have this probability.",
    ...{ min: 0, max: 1, slider: 1, step: 0.01, rest: 1 },
  },
  top_k: {
    label: "Top K",
    help: "Only this many of the likeliest words; 0 is all.",
    ...{ min: 0, max: undefined, slider: 200, step: 1, rest: 0 },
  },
  min_p: {
    label: "Min P",
    help: "Only words at least this likely, against the likeliest.",
    ...{ min: 0, max: 1, slider: 1, step: 0.01, rest: 0 },
  },
  max_tokens: {
    label: "Longest answer",
    help: "In tokens. An answer that is longer is cut.",
    ...{ min: 1, max: undefined, slider: 32_768, step: 1, rest: 32_768 },
  },
  frequency_penalty: {
    label: "Frequency penalty",
    help: "Above 0, a word is less likely each time it has been used.",
    ...{ min: -2, max: 2, slider: 2, step: 0.05, rest: 0 },
  },
  presence_penalty: {
    label: "Presence penalty",
    help: "Above 0, a word that has been used is less likely.",
    ...{ min: -2, max: 2, slider: 2, step: 0.05, rest: 0 },
  },
  repetition_penalty: {
    label: "Repetition penalty",
    help: "Above 1, the words of the conversation are less likely.",
    ...{ min: 0, max: 2, slider: 2, step: 0.05, rest: 1 },
  },
  seed: {
    label: "Seed",
    help: "The same number draws the same answer, where the host can.",
    ...{ min: -(2 ** 31), max: 2 ** 31 - 1, slider: undefined, step: 1, rest: 0 },
  },
};

export const PARAMETER_NAMES = Object.keys(RANGES) as readonly ParameterName[];

/** The range of a parameter with this model: an answer is no longer than its host makes one. */
export function rangeOf(name: ParameterName, model: Model | undefined): Range {
  const range = RANGES[name];
  if (name !== "max_tokens" || !model?.maxOutput) return range;
  return { ...range, slider: model.maxOutput, rest: model.maxOutput };
}

/** The nearest value that the API takes. */
export function clamped(value: number, { min, max, step }: Range): number {
  const whole = step >= 1 ? Math.round(value) : Math.round(value * 1000) / 1000;
  return Math.min(Math.max(whole, min), max ?? Number.MAX_SAFE_INTEGER);
}

/** Whether this model takes the parameter; where nobody says what it takes, it may be asked. */
export const takes = (model: Model | undefined, name: ParameterName): boolean =>
  // Every host takes a limit, whatever its list says.
  name === "max_tokens" || says(model, name);

export const takesReasoning = (model: Model | undefined): boolean => says(model, "reasoning");

export const takesTools = (model: Model | undefined): boolean => says(model, "tools");

const says = (model: Model | undefined, name: string): boolean =>
  !model || model.parameters.length === 0 || model.parameters.includes(name);

/** Parameters that are set though this model does not take them: they are kept, and not sent. */
export const notTaken = (parameters: Parameters, model: Model | undefined): readonly ParameterName[] =>
  PARAMETER_NAMES.filter((name) => parameters[name] !== undefined && !takes(model, name));

export const EFFORT_LABELS: Record<Effort, string> = {
  auto: "Auto",
  none: "None",
  minimal: "Minimal",
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Higher",
  max: "Max",
};

export type AskFields = Pick<ChatBody, ParameterName | "tools" | "reasoning">;

/** What goes into a question beside its words: what is set, as far as the model takes it. */
export function askFields(settings: AskSettings, model: Model | undefined, tools: readonly Tool[]): AskFields {
  const { parameters, effort } = settings;
  const offered = offeredTools(settings.toolsOff, model, tools);
  return {
    ...Object.fromEntries(
      PARAMETER_NAMES.filter((name) => parameters[name] !== undefined && takes(model, name)).map((name) => [
        name,
        parameters[name],
      ]),
    ),
    ...(offered && { tools: offered }),
    ...(effort !== "auto" && takesReasoning(model) && { reasoning: { effort } }),
  };
}

/** Names of the tools that stay; undefined: all that there are. */
function offeredTools(
  off: readonly string[],
  model: Model | undefined,
  tools: readonly Tool[],
): readonly string[] | undefined {
  if (off.length === 0 || !takesTools(model)) return undefined;
  // Without the list nobody can name those that stay. What was switched off must not be used, so none is.
  if (tools.length === 0) return [];
  const available = tools.filter(({ unavailable }) => unavailable === undefined).map(({ name }) => name);
  const staying = available.filter((name) => !off.includes(name));
  return staying.length < available.length ? staying : undefined;
}

/** How many settings differ from asking plainly: for a mark on the button that opens them. */
export const changedCount = ({ parameters, effort, toolsOff, system }: AskSettings): number =>
  Object.values(parameters).filter((value) => value !== undefined).length +
  toolsOff.length +
  (effort === "auto" ? 0 : 1) +
  (system.trim() ? 1 : 0);

const VARIABLE = /\{\{\s*([\p{L}\p{N}_.-]+)\s*\}\}/gu;

/** Fill `{{date}}` and `{{time}}` in; other variables stay as they are. */
export const fillVariables = (text: string, now: Date): string =>
  text.replace(VARIABLE, (whole, name: string) => filled(name, now) ?? whole);

function filled(name: string, now: Date): string | undefined {
  const two = (n: number): string => String(n).padStart(2, "0");
  if (name === "date") return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return name === "time" ? `${two(now.getHours())}:${two(now.getMinutes())}` : undefined;
}

export interface MissingVariable {
  name: string;
  /** Where it first stands in the text. */
  start: number;
  end: number;
}

/** Variables that nothing fills in, each once: they would be sent as they stand. */
export function missingVariables(text: string): readonly MissingVariable[] {
  const found = new Map<string, MissingVariable>();
  for (const match of text.matchAll(VARIABLE)) {
    const [whole, name = ""] = match;
    if (name === "date" || name === "time" || found.has(name)) continue;
    found.set(name, { name, start: match.index, end: match.index + whole.length });
  }
  return [...found.values()];
}

/** About four characters are one token. */
export const roughTokens = (text: string): number => Math.ceil(text.length / 4);
