/** Shared by the writers of all formats: native options, tools, choices, and numbers within a format's range. */
import type { Value } from '@reprise/contracts';
import { isJsonObject, type Json, toJson } from '../model/json.js';
import type {
  ProviderProfile,
  UnifiedCall,
  UnifiedMedia,
  UnifiedMessage,
  UnifiedRequest,
  UnifiedSaying,
  WrittenRequest,
} from '../model/model.js';
import { Derived, isSteady, steady } from '../model/steady.js';
import { cut } from '../model/text.js';
import type { SchemaRules } from '../schemas/schema-rules.js';
import { type SendableSchema, sendableSchema } from '../schemas/sendable-schema.js';

/** A body, and codes of parts of the unified request that it lacks. */
export interface Draft {
  readonly body: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

/** The bytes that the next request does not share: the end of the growing list and of the object around it. */
const TAIL = ']}';

const COMMA = 0x2c;

const utf8 = new TextEncoder();

/** The bytes of steady elements of a growing list, which are encoded once. */
const elementBytes = new WeakMap<object, Uint8Array>();

/**
 * Encodes a body. Its last field is the growing list, so all bytes but the tail begin the next request, too. Steady
 * elements of the list are encoded once.
 */
export function writtenOf({ body, warnings }: Draft): WrittenRequest {
  const [field = '', list] = Object.entries(body).at(-1) ?? [];
  const bytes = Array.isArray(list) ? joined(body, field, list as readonly object[]) : jsonBytes(body);
  return { body: bytes, prefixBytes: bytes.length - TAIL.length, warnings: [...new Set(warnings)].sort() };
}

/** The bytes of a body whose last field is a list. */
function joined(body: Draft['body'], field: string, list: readonly object[]): Uint8Array {
  const head = jsonBytes({ ...body, [field]: [] });
  const parts = list.map(bytesOf);
  const size = parts.reduce((sum, part) => sum + part.length, head.length + Math.max(0, parts.length - 1));
  const bytes = new Uint8Array(size);
  bytes.set(head);
  let at = head.length - TAIL.length;
  parts.forEach((part, i) => {
    if (i > 0) bytes[at++] = COMMA;
    bytes.set(part, at);
    at += part.length;
  });
  bytes.set(utf8.encode(TAIL), at);
  return bytes;
}

function bytesOf(element: object): Uint8Array {
  const known = elementBytes.get(element);
  if (known !== undefined) return known;
  const bytes = jsonBytes(element);
  if (isSteady(element)) elementBytes.set(element, bytes);
  return bytes;
}

function jsonBytes(data: unknown): Uint8Array {
  return utf8.encode(JSON.stringify(data));
}

/** Elements of the growing list, and the codes of what they leave out. */
interface Elements<T> {
  readonly list: readonly T[];
  readonly warnings: readonly string[];
}

/** Writes elements of the growing list; those of steady messages are written once. */
export class ElementWriter<T extends object> {
  readonly #written = new Derived<Elements<T>>();

  /**
   * Writes the elements of messages.
   *
   * @param sources the messages
   * @param key all else that the elements depend on
   * @param warnings receives the codes of what is left out
   */
  write(
    sources: readonly [UnifiedMessage, ...UnifiedMessage[]],
    key: string,
    warnings: string[],
    make: (warnings: string[]) => readonly T[],
  ): readonly T[] {
    const [first, ...others] = sources;
    const written = this.#written.of(first, others, key, () => {
      const codes: string[] = [];
      const list = make(codes);
      if (sources.every(isSteady)) list.forEach(steady);
      return { list, warnings: codes };
    });
    if (written.warnings.length > 0) warnings.push(...written.warnings);
    return written.list;
  }
}

/** Provider-native fields from the profile and the call, except those that the journal records separately. */
export function nativeOptions(
  request: UnifiedRequest,
  profile: ProviderProfile,
  reserved: readonly string[],
  warnings: string[],
): Record<string, Json> {
  const options: Readonly<Record<string, Value>> = { ...profile.provider_options_default, ...request.providerOptions };
  const kept = Object.entries(options).filter(([name]) => {
    if (reserved.includes(name)) warnings.push(`provider_option_ignored:${name}`);
    return !reserved.includes(name);
  });
  return Object.fromEntries(kept.map(([name, option]) => [name, toJson(option)]));
}

/** Clamps a number to a format's range. */
export function within(
  given: number | undefined,
  [min, max]: readonly [number, number],
  name: string,
  warnings: string[],
): number | undefined {
  if (given === undefined) return undefined;
  const number = Math.min(max, Math.max(min, given));
  if (number !== given) warnings.push(`parameter_changed:${name}`);
  return number;
}

/** The first texts of a list up to a maximum, without blank ones. */
export function stopTexts(given: readonly string[] | undefined, most: number, warnings: string[]) {
  if (given === undefined) return undefined;
  const kept = given.filter((text) => text.trim() !== '').slice(0, most);
  if (kept.length < given.length) warnings.push('parameter_changed:stop_sequences');
  return kept.length === 0 ? undefined : kept;
}

/** At most sixteen pairs: the bound of the formats that have metadata. */
export function metadataOf(given: UnifiedRequest['metadata'], warnings: string[]) {
  if (given === undefined) return undefined;
  const entries = Object.entries(given);
  if (entries.length > 16) warnings.push('parameter_changed:metadata');
  return Object.fromEntries(entries.slice(0, 16));
}

/** The effort of a request, if the profile supports it. */
export function effortOf(request: UnifiedRequest, profile: ProviderProfile, warnings: string[]) {
  if (profile.supports_reasoning_effort) return request.reasoningEffort;
  if (request.reasoningEffort !== undefined) warnings.push('unsupported:reasoning_effort');
  return undefined;
}

/** A tool in a form that formats accept. */
interface SendableTool {
  readonly name: string;
  readonly description: string;
  readonly schema: { readonly [key: string]: Json };
}

/**
 * The tools that a format can send. A tool whose name the format refuses could never be called.
 *
 * @param others how many tools of other kinds the request holds
 */
export function sendableTools(
  request: UnifiedRequest,
  rules: SchemaRules,
  warnings: string[],
  others = 0,
): SendableTool[] {
  const names = new Set<string>();
  return request.tools.flatMap(({ name, description, schema }) => {
    const fits = names.size + others < rules.toolsMax;
    if (!fits || !/^[a-zA-Z0-9_-]{1,64}$/.test(name) || names.has(name)) {
      warnings.push(`tool_dropped:${cut(name, 64)}`);
      return [];
    }
    names.add(name);
    return [{ name, description, schema: writtenSchema(schema, name, rules, warnings) }];
  });
}

/** Schemas in the form of a format, by its rules: a session sends the same tools with each call. */
const writtenSchemas = new WeakMap<SchemaRules, Derived<SendableSchema>>();

function sendableOnce(given: Value, rules: SchemaRules): SendableSchema {
  const make = () => sendableSchema(toJson(given), rules);
  if (typeof given !== 'object' || given === null) return make();
  const known = writtenSchemas.get(rules) ?? new Derived<SendableSchema>();
  writtenSchemas.set(rules, known);
  return known.of(given, [], '', make);
}

function writtenSchema(given: Value, name: string, rules: SchemaRules, warnings: string[]): SendableTool['schema'] {
  const { schema, losses } = sendableOnce(given, rules);
  if (losses.length > 0) warnings.push(`tool_schema_loosened:${name}:${losses.join(',')}`);
  return schema;
}

/** Which calls a model may make: any, none, at least one, or the named one. */
type Choice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** The choice of a request, as far as its tools and the profile allow it. */
export function choiceOf(
  request: UnifiedRequest,
  tools: readonly SendableTool[],
  profile: ProviderProfile,
  warnings: string[],
): Choice | undefined {
  const choice = request.toolChoice;
  if (choice === undefined) return undefined;
  if (tools.length === 0) {
    if (choice !== 'none' && choice !== 'auto') warnings.push('unsupported:tool_choice');
    return undefined;
  }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (!tools.some(({ name }) => name === choice)) {
    warnings.push('unsupported:tool_choice');
    return undefined;
  }
  if (profile.supports_tool_choice_named) return { tool: choice };
  warnings.push('unsupported:tool_choice_named');
  return 'required';
}

/** A call of the history in a form that formats accept. */
interface SendableCall {
  readonly id: string;
  readonly name: string;
  readonly args: { readonly [key: string]: Json };
}

/** Cleans up a call that providers would refuse: the history keeps the original, the wire gets a valid form. */
export function sendableCall({ callId, tool, args }: UnifiedCall): SendableCall {
  const data = toJson(args);
  return {
    id: callId,
    name: tool.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || '_',
    // Several servers refuse a history whose arguments they cannot parse.
    args: isJsonObject(data) ? data : { invalid_arguments: data },
  };
}

/** The text of a user message; undefined when it also holds media. */
export function sayingText({ parts }: UnifiedSaying): string | undefined {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n\n') : undefined;
}

export function base64Of({ bytes }: Pick<UnifiedMedia, 'bytes'>): string {
  let text = '';
  // In pieces: a function takes only a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

/** Media as a data URL. */
export function dataUrlOf(media: UnifiedMedia): string {
  return `data:${media.mediaType};base64,${base64Of(media)}`;
}

/** Whether media is an image; otherwise it is a document. */
export function isImage({ mediaType }: UnifiedMedia): boolean {
  return mediaType.startsWith('image/');
}

/** The name of media, in a form that providers accept as a file name. */
export function fileNameOf({ name }: UnifiedMedia): string {
  return cut(name.split('/').at(-1) ?? '', 200) || 'file';
}
