// The languages with highlighting, and their aliases.

const NAMES = {
  bash: ["sh", "shell", "zsh", "console", "shellscript"],
  c: ["h"],
  cpp: ["c++", "cc", "hpp"],
  csharp: ["cs", "c#"],
  css: [],
  diff: ["patch"],
  docker: ["dockerfile"],
  go: ["golang"],
  graphql: ["gql"],
  html: ["htm"],
  ini: ["properties", "conf"],
  java: [],
  javascript: ["js", "mjs", "cjs"],
  json: ["jsonc", "json5", "jsonl"],
  jsx: [],
  kotlin: ["kt"],
  lua: [],
  make: ["makefile"],
  markdown: ["md"],
  php: [],
  powershell: ["ps1"],
  python: ["py", "python3"],
  r: [],
  ruby: ["rb"],
  rust: ["rs"],
  sql: ["sqlite", "postgresql", "mysql"],
  swift: [],
  toml: [],
  tsx: [],
  typescript: ["ts", "mts"],
  xml: ["svg"],
  yaml: ["yml"],
} as const;

export type Language = keyof typeof NAMES;

const KNOWN: ReadonlyMap<string, Language> = new Map(
  Object.entries(NAMES).flatMap(([name, others]) => [name, ...others].map((each) => [each, name as Language] as const)),
);

/** The first word is the language: `sh · example`, `python title="x"`. */
export const languageOf = (words: string): Language | undefined =>
  KNOWN.get(
    words
      .trim()
      .split(/[\s,{]/, 1)[0]
      ?.toLowerCase() ?? "",
  );
