/**
 * The answer to a call, block by block: a block that cannot be shown becomes words, and the others stay. The call was
 * executed, whatever its answer looks like.
 */
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { mediaTypeOf } from '@reprise/agent';
import { isObject, kindOf } from './read-json.js';

type Json = Readonly<Record<string, unknown>>;
type Odd = (what: string) => void;

/** The members of an answer that are not its data. */
const MEMBERS = ['content', 'structuredContent', 'isError', '_meta', 'resultType'];

/** The result of a call as the MCP package accepts it, or the reason why it cannot be read. */
export function usableAnswer(result: unknown, isModern: boolean, odd: Odd): Json | string {
  if (typeof result === 'string' || Array.isArray(result)) return usableAnswer({ content: result }, isModern, odd);
  if (!isObject(result)) return `its result is ${kindOf(result)}`;
  if (result.resultType === 'input_required') return result;
  const { content, structuredContent, isError } = result;
  const data = structuredContent ?? (content === undefined ? otherData(result) : undefined);
  return {
    ...(isModern ? { resultType: 'complete' } : {}),
    content: blocksOf(content, odd),
    // The older protocol has objects as data only: other data is the result in one, as servers send it.
    ...(data === undefined ? {} : { structuredContent: isObject(data) ? data : { result: data } }),
    ...(isFailure(isError, odd) ? { isError: true } : {}),
  };
}

/** What an answer without content holds: the first revision of the protocol had `toolResult`. */
function otherData(result: Json): unknown {
  const others = Object.entries(result).filter(([name]) => !MEMBERS.includes(name));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

function isFailure(isError: unknown, odd: Odd): boolean {
  if (isError === undefined || isError === null || typeof isError === 'boolean') return isError === true;
  const isBelieved = isError === 'true' || isError === 1;
  odd(`isError of an answer is ${kindOf(isError)} and is read as ${isBelieved}`);
  return isBelieved;
}

function blocksOf(content: unknown, odd: Odd): readonly Json[] {
  if (content === undefined || content === null) return [];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => {
    const usable = usableBlock(block);
    if (typeof usable !== 'string') return usable;
    odd(`a block of an answer cannot be shown: ${usable}`);
    return text(`[content that cannot be shown: ${usable}]`);
  });
}

/** A block as the MCP package accepts it, or the reason why it cannot be shown. */
function usableBlock(given: unknown): Json | string {
  if (typeof given === 'string') return text(given);
  if (!isObject(given)) return `it is ${kindOf(given)}`;
  return isBlock(given) ? given : rebuilt(given);
}

function isBlock(block: Json): boolean {
  const checked = specTypeSchemas.ContentBlock['~standard'].validate(block);
  return !(checked instanceof Promise) && checked.issues === undefined;
}

/** An odd block, made anew of what matters in it: odd annotations cannot make it unreadable. */
function rebuilt(given: Json): Json | string {
  switch (given.type) {
    case 'text':
      return text(
        typeof given.text === 'string'
          ? given.text
          : given.text === undefined
            ? 'a text without a text'
            : JSON.stringify(given.text),
      );
    case 'image':
    case 'audio':
      return media(given.type, given.data, given.mimeType);
    case 'resource':
      return resource(given.resource);
    case 'resource_link':
      return link(given);
    case undefined:
      return typeof given.text === 'string' ? text(given.text) : 'its type is missing';
    default:
      return `its type is ${JSON.stringify(given.type)}`;
  }
}

function media(type: 'image' | 'audio', data: unknown, mimeType: unknown): Json | string {
  const base64 = base64Of(data);
  if (base64 === undefined) return `the data of its ${type} is not base64`;
  const named = typeof mimeType === 'string' && mimeType !== '' ? mimeType : mediaTypeOf(Buffer.from(base64, 'base64'));
  return { type, data: base64, mimeType: named };
}

function resource(given: unknown): Json | string {
  if (typeof given === 'string') return text(given);
  if (!isObject(given)) return `its resource is ${kindOf(given)}`;
  const uri = typeof given.uri === 'string' ? given.uri : 'without an address';
  const typed = typeof given.mimeType === 'string' ? { mimeType: given.mimeType } : {};
  if (typeof given.text === 'string') return { type: 'resource', resource: { uri, ...typed, text: given.text } };
  const blob = base64Of(given.blob);
  if (blob === undefined) return `its resource ${uri} holds neither a text nor base64`;
  return { type: 'resource', resource: { uri, ...typed, blob } };
}

function link({ uri, name, title }: Json): Json | string {
  if (typeof uri !== 'string') return 'its link has no address';
  const named = [name, title, uri].find((one) => typeof one === 'string');
  return { type: 'resource_link', uri, name: named };
}

/** Base64 in the alphabet of the protocol; a data address and the other alphabet mean the same bytes. */
function base64Of(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  const plain = data
    .replace(/^data:[^,]*;base64,/, '')
    .replace(/-/g, '+')
    .replace(/_/g, '/')
    .replace(/\s+/g, '');
  return /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.replace(/=+$/, '').length % 4 !== 1
    ? plain.replace(/=+$/, '').padEnd(Math.ceil(plain.replace(/=+$/, '').length / 4) * 4, '=')
    : undefined;
}

function text(words: string): Json {
  return { type: 'text', text: words };
}
