// Highlights code with Shiki's grammars, line by line. Grammars are loaded on demand.
import {
  createHighlighterCore,
  type GrammarState,
  type HighlighterCore,
  type LanguageInput,
  type ThemedToken,
  type ThemeRegistration,
} from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import type { Colour, Line } from "./highlight.ts";
import type { Language } from "./languageNames.ts";

const LANGUAGES: Record<Language, LanguageInput> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  graphql: () => import("shiki/langs/graphql.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  powershell: () => import("shiki/langs/powershell.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  r: () => import("shiki/langs/r.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

/** The theme's colours are numbers. The style sheet maps them to colours, dark and light. */
const SCOPES: readonly (readonly [Colour, readonly string[]])[] = [
  ["comment", ["comment", "punctuation.definition.comment", "string.quoted.docstring"]],
  ["keyword", ["keyword", "storage", "variable.language", "constant.language", "markup.heading"]],
  ["string", ["string", "markup.inline.raw", "constant.character"]],
  ["number", ["constant.numeric", "constant.other", "support.constant"]],
  ["name", ["entity.name.function", "support.function", "entity.name.tag", "meta.function-call.generic"]],
  [
    "type",
    [
      "entity.name.type",
      "entity.name.class",
      "entity.other",
      "support.type",
      "support.class",
      "variable.other.property",
    ],
  ],
  ["added", ["markup.inserted"]],
  ["removed", ["markup.deleted"]],
];

const numbered = (index: number): string => `#${index.toString(16).padStart(6, "0")}`;
const COLOURS: ReadonlyMap<string, Colour> = new Map(SCOPES.map(([colour], index) => [numbered(index + 1), colour]));

const theme: ThemeRegistration = {
  name: "signalbox",
  type: "light",
  fg: numbered(0),
  bg: numbered(0),
  settings: [
    { settings: { foreground: numbered(0) } },
    ...SCOPES.map(([, scope], index) => ({ scope: [...scope], settings: { foreground: numbered(index + 1) } })),
    { scope: ["keyword.operator.assignment", "keyword.operator.arithmetic"], settings: { foreground: numbered(0) } },
  ],
};

// Disables Shiki's time limit of half a second per line: a slow machine needs more to compile the first rules.
const LIMITS = { tokenizeTimeLimit: 5_000, tokenizeMaxLineLength: 5_000 };

/** Highlighted lines, and the grammar's state after them. */
export interface Coloured {
  lines: Line[];
  state: GrammarState | undefined;
}

/** Highlights whole lines. `state` is the state after the previous line, or undefined at the beginning. */
export type Grammar = (code: string, state: GrammarState | undefined) => Coloured;

let highlighter: Promise<HighlighterCore> | undefined;

export async function loadGrammar(language: Language): Promise<Grammar> {
  highlighter ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const shiki = await highlighter;
  await shiki.loadLanguage(LANGUAGES[language]);
  return (code, state) => {
    const options = { lang: language, theme: theme.name ?? "", ...LIMITS };
    const tokens = shiki.codeToTokensBase(code, state ? { ...options, grammarState: state } : options);
    return { lines: tokens.map(lineOf), state: shiki.getLastGrammarState(tokens) };
  };
}

/** Merge neighbouring tokens of one colour. */
function lineOf(tokens: readonly ThemedToken[]): Line {
  const line: [Colour | "", string][] = [];
  for (const { color = "", content } of tokens) {
    const colour = COLOURS.get(color.toLowerCase()) ?? "";
    const before = line.at(-1);
    if (before?.[0] === colour) before[1] += content;
    else line.push([colour, content]);
  }
  return line;
}
