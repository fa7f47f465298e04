/**
 * What each format accepts in the schema of a tool, as data.
 *
 * Common to all: valid JSON Schema 2020-12, an object at the root that combines no other schemas, items for every list,
 * patterns that every engine reads, references that have a target. What a format refuses is left out and stands in words
 * in the description: the arguments of a call are checked against the whole schema in any case.
 */

/** The rules of one format for the schemas of tools. */
export interface SchemaRules {
  /** The names of properties that the format accepts; absent for any name. */
  readonly names?: RegExp;
  /** The values of `format` that the format accepts. */
  readonly formats: readonly string[];
  /** How deep objects may nest, the root included. */
  readonly objectsDeepMax: number;
  /** The most tools of one request. */
  readonly toolsMax: number;
}

/** The names that Anthropic accepts. */
const NAMES = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The formats that OpenAI lists. */
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

const OPENAI: SchemaRules = { formats: FORMATS, objectsDeepMax: 10, toolsMax: 128 };
const ANTHROPIC: SchemaRules = { names: NAMES, formats: [...FORMATS, 'uri'], objectsDeepMax: 32, toolsMax: 1_024 };

/** The rules of each format. A model of the AI SDK may stand behind any of them: it gets what all accept. */
export const SCHEMA_RULES = {
  'openai-chat': OPENAI,
  'openai-responses': OPENAI,
  'anthropic-messages': ANTHROPIC,
  'ai-sdk': { ...OPENAI, names: NAMES },
} as const satisfies Readonly<Record<string, SchemaRules>>;
