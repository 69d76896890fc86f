// Request parameters: their ranges, which of them a model supports, and which settings are sent.
import type { Effort, Model, ParameterName, Parameters, RequestSettings, Tool } from "../../types/api.ts";
import type { ChatBody } from "../../types/models.ts";
import { titleOf, toolTitles } from "../wording/toolTitles.ts";
import { wireFormat } from "./responseFormat.ts";
import { namedTool, wireChoice } from "./toolChoice.ts";

export interface Range {
  label: string;
  /** The effect, as a sentence. */
  help: string;
  min: number;
  /** Undefined if there is no maximum. */
  max: number | undefined;
  /** The slider's maximum. Undefined if the parameter has no slider. */
  slider: number | undefined;
  step: number;
  /** The slider's position while the parameter is not set. */
  rest: number;
}

/** The API's ranges, in the order in which they are shown. */
export const RANGES: Record<ParameterName, Range> = {
  temperature: {
    label: "Temperature",
    help: "Lower is more focused, higher is more creative.",
    ...{ min: 0, max: 2, slider: 2, step: 0.05, rest: 1 },
  },
  top_p: {
    label: "Top P",
    help: "Considers only the most likely words up to this total probability.",
    ...{ min: 0, max: 1, slider: 1, step: 0.01, rest: 1 },
  },
  top_k: {
    label: "Top K",
    help: "Considers only this many of the most likely words. 0 means all.",
    ...{ min: 0, max: undefined, slider: 200, step: 1, rest: 0 },
  },
  min_p: {
    label: "Min P",
    help: "Considers only words at least this likely, relative to the most likely one.",
    ...{ min: 0, max: 1, slider: 1, step: 0.01, rest: 0 },
  },
  max_tokens: {
    label: "Maximum answer length",
    help: "In tokens. Longer answers are cut off.",
    ...{ min: 1, max: 1_000_000, slider: 32_768, step: 1, rest: 32_768 },
  },
  frequency_penalty: {
    label: "Frequency penalty",
    help: "Above 0, words become less likely the more often they were used.",
    ...{ min: -2, max: 2, slider: 2, step: 0.05, rest: 0 },
  },
  presence_penalty: {
    label: "Presence penalty",
    help: "Above 0, words that were used become less likely.",
    ...{ min: -2, max: 2, slider: 2, step: 0.05, rest: 0 },
  },
  repetition_penalty: {
    label: "Repetition penalty",
    help: "Above 1, words from the conversation become less likely.",
    ...{ min: 0, max: 2, slider: 2, step: 0.05, rest: 1 },
  },
  seed: {
    label: "Seed",
    help: "The same seed should give the same answer, if the provider supports it.",
    ...{ min: -(2 ** 31), max: 2 ** 31 - 1, slider: undefined, step: 1, rest: 0 },
  },
  max_steps: {
    label: "Step limit",
    help: "Each step is one request to the model, up to 50. The last one writes the answer, so with 1 no tool can be used.",
    ...{ min: 1, max: 50, slider: 50, step: 1, rest: 8 },
  },
  max_searches: {
    label: "Search limit",
    help: "Maximum number of searches per answer. 0 turns search off.",
    ...{ min: 0, max: 100, slider: 20, step: 1, rest: 6 },
  },
};

export const PARAMETER_NAMES = Object.keys(RANGES) as readonly ParameterName[];

/** Limits of a run with tools, shown beside the tools. */
export const LIMIT_NAMES: readonly ParameterName[] = ["max_steps", "max_searches"];

export const SAMPLING_NAMES = PARAMETER_NAMES.filter((name) => !LIMIT_NAMES.includes(name));

/**
 * The range of a parameter for this model. The model's own output limit applies. `defaults` has the server's limits.
 */
export function rangeOf(name: ParameterName, model: Model | undefined, defaults: Parameters = {}): Range {
  const range = RANGES[name];
  const rest = defaults[name];
  if (rest !== undefined) return { ...range, rest };
  if (name !== "max_tokens" || !model?.maxOutput) return range;
  return { ...range, max: model.maxOutput, slider: model.maxOutput, rest: model.maxOutput };
}

/** Why a typed number was changed. Undefined if it was not. */
export function correctionOf(typed: number, range: Range): string | undefined {
  const used = clamped(typed, range);
  const words = used.toLocaleString("en");
  if (typed > used && used === range.max) return `The maximum is ${words}, so it was set to that.`;
  if (typed < used && used === range.min) return `The minimum is ${words}, so it was set to that.`;
  return undefined;
}

/** The nearest value that the API accepts. */
export function clamped(value: number, { min, max, step }: Range): number {
  const whole = step >= 1 ? Math.round(value) : Math.round(value * 1000) / 1000;
  return Math.min(Math.max(whole, min), max ?? Number.MAX_SAFE_INTEGER);
}

/** Whether the model supports the parameter. If unknown, it may be sent. */
export const supports = (model: Model | undefined, name: ParameterName): boolean => {
  // Signalbox applies these limits itself. Without tools they have no effect.
  if (LIMIT_NAMES.includes(name)) return supportsTools(model);
  // Every provider accepts a token limit, even if its list omits it.
  return name === "max_tokens" || isListed(model, name);
};

export const supportsReasoning = (model: Model | undefined): boolean => isListed(model, "reasoning");

export const supportsTools = (model: Model | undefined): boolean => isListed(model, "tools");

export const supportsFormat = (model: Model | undefined): boolean =>
  isListed(model, "response_format") || isListed(model, "structured_outputs");

const isListed = (model: Model | undefined, name: string): boolean =>
  !model || model.parameters.length === 0 || model.parameters.includes(name);

/** Parameters that are set but not supported. They are kept but not sent. */
export const unsupported = (parameters: Parameters, model: Model | undefined): readonly ParameterName[] =>
  PARAMETER_NAMES.filter((name) => parameters[name] !== undefined && !supports(model, name));

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

export type RequestFields = Pick<
  ChatBody,
  ParameterName | "tools" | "previews" | "tool_choice" | "reasoning" | "response_format"
>;

/** The request's fields besides the message: all settings that the model supports. */
export function requestFields(
  settings: RequestSettings,
  model: Model | undefined,
  tools: readonly Tool[],
): RequestFields {
  const { parameters, effort } = settings;
  const choice = unsentChoiceReason(settings, model, tools) ? undefined : wireChoice(settings.toolChoice);
  const format = supportsFormat(model) ? wireFormat(settings.format) : undefined;
  return {
    ...Object.fromEntries(
      PARAMETER_NAMES.filter((name) => parameters[name] !== undefined && supports(model, name)).map((name) => [
        name,
        parameters[name],
      ]),
    ),
    ...toolFields(settings, model, tools),
    ...(choice && { tool_choice: choice }),
    ...(effort !== "auto" && supportsReasoning(model) && { reasoning: { effort } }),
    ...(format && { response_format: format }),
  };
}

/** Why the tool choice is not sent, as a sentence. Undefined if it is sent or not set. */
export function unsentChoiceReason(
  settings: RequestSettings,
  model: Model | undefined,
  tools: readonly Tool[],
): string | undefined {
  const { toolChoice, toolsOff, parameters } = settings;
  if (toolChoice === "") return undefined;
  if (!supportsTools(model)) return "This model cannot use tools, so this setting is not used.";
  const searches = parameters.max_searches !== 0;
  const offered = toolsThatAreOn(settings, tools).filter(({ category }) => searches || category !== "search");
  if (offered.length === 0 && (tools.length > 0 || toolsOff.length > 0))
    return "No tool is on, so this setting is not used.";
  const named = namedTool(toolChoice);
  if (named === undefined || tools.length === 0 || offered.some(({ name }) => name === named)) return undefined;
  return `${titleOf(toolTitles(tools), named)} is off or not available, so this setting is not used.`;
}

/** The fields `tools` and `previews`. Without them, the request offers the server's default tools. */
function toolFields(
  settings: RequestSettings,
  model: Model | undefined,
  tools: readonly Tool[],
): Pick<ChatBody, "tools" | "previews"> {
  if (!supportsTools(model)) return {};
  // Without the list, the remaining tools cannot be named. A tool that is switched off must not be used, so none is
  // offered.
  if (tools.length === 0) return settings.toolsOff.length === 0 ? {} : { tools: [] };
  const on = toolsThatAreOn(settings, tools);
  const hasFiles = on.some(isFileTool);
  const defaults = tools.filter(({ unavailable, onRequest }) => unavailable === undefined && !onRequest);
  if (!hasFiles && on.length === defaults.length) return {};
  return { tools: on.map(({ name }) => name), ...(hasFiles && { previews: true }) };
}

/** A tool on request is on only if it works on files. */
function toolsThatAreOn({ toolsOff, files }: RequestSettings, tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(
    (tool) =>
      tool.unavailable === undefined &&
      !toolsOff.includes(tool.name) &&
      (!tool.onRequest || (files && isFileTool(tool))),
  );
}

/** Whether the switch "Files" is for this tool: it works on the files of a conversation. */
export const isFileTool = ({ onRequest, needsConversation }: Tool): boolean => onRequest && needsConversation;

/** The number of settings that differ from their defaults, for the settings button. */
export const changedCount = (settings: RequestSettings): number => {
  const { parameters, effort, toolsOff, files, toolChoice, format, system } = settings;
  return (
    Object.values(parameters).filter((value) => value !== undefined).length +
    toolsOff.length +
    (files ? 0 : 1) +
    (effort === "auto" ? 0 : 1) +
    (toolChoice === "" ? 0 : 1) +
    (format.kind === "" ? 0 : 1) +
    (system.trim() ? 1 : 0)
  );
};

/** Estimate: four characters per token. */
export const roughTokens = (text: string): number => Math.ceil(text.length / 4);
