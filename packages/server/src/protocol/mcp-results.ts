/** Answers and resources in the protocol's form. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ServedContent, ServedSchema } from '@reprise/agent';
import type { Value, ValueMap } from '@reprise/contracts';
import { checker, type JsonChecker } from '@reprise/kernel/json-schema';
import type { McpAnswer, McpResource, McpTool } from './mcp-types.js';

/** How many problems of a value an error names. */
const PROBLEMS_MAX = 8;

/** The checkers of the schemas that were used: each is compiled once. */
const checkers = new WeakMap<ServedSchema, JsonChecker>();

/** The problems of a value with a schema, in words; undefined when it fits. */
export function problemsOf(schema: ServedSchema, value: Value, what: string): string | undefined {
  const verdict = checkerOf(schema).check(value);
  if (verdict.ok) return undefined;
  return verdict.problems
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => `${path.length === 0 ? what : path.join('.')}: ${message}`)
    .join('; ');
}

function checkerOf(schema: ServedSchema): JsonChecker {
  const known = checkers.get(schema);
  if (known !== undefined) return known;
  const made = checker(schema);
  if (!made.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, 'The schema of the tool is refused.');
  checkers.set(schema, made);
  return made;
}

/** A tool as it is listed. */
export function listedTool({ name, description, inputSchema, outputSchema }: McpTool): object {
  return { name, description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
}

/**
 * An answer as the result of a call. Clients check data by the tool's schema, in errors too, so data of an error that has
 * another form stands only in its text.
 *
 * @throws Error when the answer does not have the form that the tool's schema states
 */
export function resultOf({ name, outputSchema }: McpTool, { structured, texts, content, isError }: McpAnswer): object {
  const said = content?.map(blockOf) ?? (texts ?? [JSON.stringify(structured ?? null)]).map(textBlock);
  const problems = outputSchema === undefined ? undefined : problemsOf(outputSchema, structured ?? null, 'the answer');
  if (problems !== undefined && !isError)
    throw new Error(`The answer of the tool ${name} is not of its form: ${problems}`);
  const isTold = outputSchema === undefined ? texts === undefined && content === undefined : problems === undefined;
  const data = isTold && isObject(structured) ? { structuredContent: structured } : {};
  return { content: said, ...data, ...(isError ? { isError } : {}) };
}

function textBlock(text: string): object {
  return { type: 'text', text };
}

function blockOf(piece: ServedContent): object {
  switch (piece.type) {
    case 'text':
      return textBlock(piece.text);
    case 'resource': {
      const { uri, mediaType, text } = piece;
      return { type: 'resource', resource: { uri, mimeType: mediaType, text } };
    }
    default:
      return { type: piece.type, mimeType: piece.mediaType, data: base64(piece.bytes) };
  }
}

/** A resource as it is listed. */
export function listedResource({ uri, mediaType, ...rest }: McpResource): object {
  return { uri, ...rest, mimeType: mediaType };
}

/** A template as it is listed. */
export function listedTemplate({ uri, mediaType, ...rest }: McpResource): object {
  return { uriTemplate: uri, ...rest, mimeType: mediaType };
}

/** Content in the protocol's form: text where its type is a text's. */
export function contentsOf(
  uri: string,
  { mediaType, bytes }: { readonly mediaType: string; readonly bytes: Uint8Array },
): object {
  const body = isText(mediaType) ? { text: new TextDecoder().decode(bytes) } : { blob: base64(bytes) };
  return { uri, mimeType: mediaType, ...body };
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(?:[a-z0-9.-]+\+)?(?:json|xml|x-ndjson)(?:;|$)/.test(mediaType);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function isObject(value: Value | undefined): value is ValueMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
