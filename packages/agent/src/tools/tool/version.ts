/**
 * Three digests of a tool, which say what a deployment changed: what a call of it means, the words about it, and how it
 * is run. No digest covers the source of a function: what a person approved is what the tool says of itself.
 *
 * Invariants
 * V1  Texts for readers are no part of the meaning, and are all part of the words; a field that happens to be named
 *     `title` is a field.
 * V2  Half of SHA-256 is kept of each digest: the calls of one answer are stored together, within the bound of a state.
 *     A digest tells versions apart that an author deploys; what a foreign server offers is compared by `descriptor_ref`.
 */
import { present, type Value } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';
import type { ToolVersion } from '../../contracts/agent-def.js';
import type { Tool } from './tool.js';

/** The digests of a version. */
interface ToolDigests {
  /** The name, the kind, the schema without texts, the guarantee, the kind of approval, and the origin. */
  readonly meaning: string;
  /** The description, the texts of the schema, and the descriptor of a toolset's tool. */
  readonly words: string;
  /** The time limit and the other terms of an execution. */
  readonly running: string;
}

/** A tool of this build as it is recorded with a call. */
interface RecordedVersion {
  readonly version: ToolVersion;
  /** The digests of the meaning and of the words: `meaning` of a recorded call. */
  readonly meaning: string;
}

const DIGEST_LENGTH = 32;

const recorded = new WeakMap<Tool, RecordedVersion>();
const written = new WeakMap<ToolVersion, Uint8Array>();

/** The version of a tool, and its recorded meaning. */
export function recordedVersion(tool: Tool): RecordedVersion {
  const known = recorded.get(tool);
  if (known !== undefined) return known;
  const version = { ...tool.entry, approval: typeof tool.approval === 'function' ? ('rule' as const) : tool.approval };
  const made = { version, meaning: meaningOf(version) };
  recorded.set(tool, made);
  return made;
}

/** The canonical bytes of a recorded version, which are made once for all calls of its tool. The store gets its own. */
export function bytesOfVersion(version: ToolVersion): Uint8Array {
  const bytes = written.get(version) ?? encode(version);
  written.set(version, bytes);
  return bytes.slice();
}

/** The recorded meaning of a version: `<meaning>.<words>`. */
function meaningOf(version: ToolVersion): string {
  const { meaning, words } = digestsOf(version);
  return `${meaning}.${words}`;
}

/** Whether two recorded meanings differ in words at most. */
export function isSameMeaning(a: string, b: string): boolean {
  return a.slice(0, DIGEST_LENGTH) === b.slice(0, DIGEST_LENGTH);
}

/** Whether two versions of a tool differ in nothing of their meaning but the schema: also the origin is the same. */
export function differsInSchema(a: ToolVersion, b: ToolVersion): boolean {
  return digestsOf({ ...a, schema: {} }).meaning === digestsOf({ ...b, schema: {} }).meaning;
}

/** The digests of a version of a tool. */
export function digestsOf(version: ToolVersion): ToolDigests {
  const { name, kind, guarantee, approval, origin, description, timeout_ms, family, parallel, polling } = version;
  const texts: Value[] = [];
  const schema = withoutTexts(version.schema, '', texts);
  const from = origin && { toolset: origin.toolset, tool: origin.tool, hints: origin.hints };
  return {
    meaning: digest(present({ name, kind, schema, guarantee, approval, origin: from })),
    words: digest(present({ description, texts, descriptor_ref: origin?.descriptor_ref })),
    running: digest(present({ timeout_ms, family, parallel, polling, on_unknown: version.on_unknown })),
  };
}

function digest(value: Value): string {
  return toHex(portableSha256(encode(value))).slice(0, DIGEST_LENGTH);
}

/** The keywords of a JSON Schema that are texts for readers. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', 'examples', '$comment']);

/** The keywords whose fields are names of the author, each with a schema. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** The keywords with data: what looks like a keyword in them is data as well. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'required', 'dependentRequired']);

/** A schema without texts for readers, which are added to `texts` with their places (V1). */
function withoutTexts(schema: Value, at: string, texts: Value[]): Value {
  if (Array.isArray(schema)) return schema.map((one, i) => withoutTexts(one, `${at}/${i}`, texts));
  if (!isMap(schema)) return schema;
  const kept: Record<string, Value> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${at}/${keyword}`;
    if (TEXTS.has(keyword)) texts.push([place, value]);
    else if (DATA.has(keyword)) kept[keyword] = value;
    else if (NAMED.has(keyword) && isMap(value)) kept[keyword] = namedWithoutTexts(value, place, texts);
    else kept[keyword] = withoutTexts(value, place, texts);
  }
  return kept;
}

function namedWithoutTexts(schemas: Readonly<Record<string, Value>>, at: string, texts: Value[]): Value {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, withoutTexts(schema, `${at}/${name}`, texts)]);
  return Object.fromEntries(entries);
}

function isMap(value: Value): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
