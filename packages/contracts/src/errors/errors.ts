import { shortText } from '../text/cut-text.js';
import type { ErrorCode } from './error-codes.js';

const ERROR_BRAND: unique symbol = Symbol.for('reprise.error') as never;

/** The details of an error, which a program can read. */
export interface ErrorDetails {
  /** Where it happened: a path in a value, a frame, a file, an address. */
  readonly where?: string;
  /** The form or value that would have been accepted there. */
  readonly expected?: unknown;
  /** The value that was found there instead. */
  readonly actual?: unknown;
  /** The next action for the reader, as one sentence. */
  readonly hint?: string;
  /** The error that caused this one. */
  readonly cause?: unknown;
  /** Further details of the code, named on its page. */
  readonly [fact: string]: unknown;
}

/**
 * The one error type of Reprise. Recognize it by {@link isRepriseError}, never by `instanceof`: two copies of the
 * package may be loaded.
 *
 * @example
 * try { await world.request(…) } catch (error) {
 *   if (isRepriseError(error, 'request_conflict')) …
 * }
 */
export class RepriseError extends Error {
  /** The code, from the closed list; `npx reprise explain <code>` prints its page. */
  readonly code: ErrorCode;
  /** What happened, as one sentence; `message` adds the code and the facts. Not enumerable. */
  declare readonly what: string;
  /** What a program can read about it. Not enumerable: Node would list the facts of the message again below it. */
  declare readonly details: ErrorDetails;

  /**
   * @param code a code of the closed list
   * @param what one sentence: what happened
   * @param facts where, expected, actual, what to do
   */
  constructor(code: ErrorCode, what: string, given: ErrorDetails = {}) {
    const facts = withoutSecrets(given);
    super(sentence(code, what, facts), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'RepriseError';
    this.code = code;
    Object.defineProperties(this, { what: { value: what }, details: { value: facts }, [ERROR_BRAND]: { value: true } });
  }

  /** The error in JSON, for logs. */
  toJSON(): object {
    const { name, code, message, details } = this;
    const { cause, ...facts } = details;
    return { name, code, message, details: cause === undefined ? facts : { ...facts, cause: lineOfError(cause) } };
  }
}

/**
 * A thing that was thrown, in one line: the name and the message of an error, and of anything else what it says.
 *
 * @param thrown anything, also what is no error
 */
export function lineOfError(thrown: unknown): string {
  try {
    if (isRepriseError(thrown)) return thrown.message;
    if (typeof thrown !== 'object' || thrown === null)
      return show(typeof thrown === 'string' ? thrown : String(thrown));
    const { name, message } = thrown as { readonly name?: unknown; readonly message?: unknown };
    if (typeof message !== 'string') return show(thrown);
    const title = typeof name === 'string' && name !== '' ? name : 'Error';
    return shortText(message === '' ? title : `${title}: ${message}`, 1_001);
  } catch {
    return tagOf(thrown);
  }
}

/** Whether a thing is a Reprise error and, when a code is given, has that code. */
export function isRepriseError(thing: unknown, code?: ErrorCode): thing is RepriseError {
  const branded =
    typeof thing === 'object' && thing !== null && (thing as Record<symbol, unknown>)[ERROR_BRAND] === true;
  return branded && (code === undefined || (thing as RepriseError).code === code);
}

/** Field names of secrets: an error shows only the type of such a field's value. */
const SECRET_NAME =
  /^(?:[Hh]eaders?|[Ee]nv|[Ee]nvironment|conceal|[Aa]uth)$|(?:[Aa]pi|API|[Aa]ccess|[Pp]rivate)[_-]?(?:[Kk]ey|KEY)|[Tt]oken$|TOKEN|[Ss]ecret|SECRET|[Pp]ass(?:w|phrase)|PASSW|[Cc]redential|[Aa]uthorization|[Cc]ookie/;

/** How deep details are searched for secrets; only the types of deeper values are shown. */
const FACT_DEPTH_MAX = 8;

/** How many parts of a value are searched. A larger value is cut, so that making an error is cheap. */
const FACT_PARTS_MAX = 1_000;

/** How many parts may still be searched. */
interface Look {
  left: number;
}

/** The details with each secret replaced by its type, whatever code made the error. */
function withoutSecrets(facts: ErrorDetails): ErrorDetails {
  const names = (facts.where ?? '').split(/[^A-Za-z0-9_-]+/).filter((name) => /[A-Za-z]/.test(name));
  const isSecret = SECRET_NAME.test(names.at(-1) ?? '');
  const { actual } = facts;
  const shown = isSecret ? typeName(actual) : redacted(actual, 0, { left: FACT_PARTS_MAX });
  return shown === actual ? facts : { ...facts, actual: shown };
}

/** The value with each secret replaced by its type; the value itself when it has no secrets and is not too large. */
function redacted(thing: unknown, depth: number, look: Look): unknown {
  if (typeof thing !== 'object' || thing === null) return thing;
  try {
    if (isRepriseError(thing) || ArrayBuffer.isView(thing)) return thing;
    if (depth === FACT_DEPTH_MAX || look.left === 0) return typeName(thing);
    return redactedParts(thing, depth, look);
  } catch {
    return tagOf(thing); // reading the value throws
  }
}

function redactedParts(thing: object, depth: number, look: Look): unknown {
  const names = Object.keys(Array.isArray(thing) ? thing.slice(0, FACT_PARTS_MAX + 1) : thing);
  const shown: [string, unknown][] = [];
  let isSame = true;
  for (const name of names) {
    if (look.left === 0) break;
    look.left--;
    const part = (thing as Readonly<Record<string, unknown>>)[name];
    const told = SECRET_NAME.test(name) ? typeName(part) : redacted(part, depth + 1, look);
    isSame &&= told === part;
    shown.push([name, told]);
  }
  if (isSame && shown.length === names.length) return thing;
  return Array.isArray(thing) ? shown.map(([, part]) => part) : Object.fromEntries(shown);
}

/** What kind of thing it is, as it stands in a message. */
function typeName(thing: unknown): unknown {
  if (thing === undefined || thing === null) return thing;
  return typeof thing === 'object' ? kindOf(thing) : `a ${typeof thing}`;
}

function kindOf(thing: object): string {
  try {
    return Array.isArray(thing) ? 'a list' : 'an object';
  } catch {
    return tagOf(thing); // a proxy that was revoked
  }
}

function sentence(code: ErrorCode, what: string, facts: ErrorDetails): string {
  const parts = [`${code}: ${what}`];
  if (facts.where !== undefined) parts.push(`at ${facts.where}`);
  if (facts.expected !== undefined) parts.push(`expected ${show(facts.expected)}`);
  if (facts.actual !== undefined) parts.push(`got ${show(facts.actual)}`);
  const line = shortText(parts.join('; '), 1_001);
  return facts.hint === undefined ? line : `${line}. ${facts.hint}`;
}

function show(thing: unknown): string {
  const text = typeof thing === 'string' ? thing : ArrayBuffer.isView(thing) ? bytesOf(thing) : safeJson(thing);
  return shortText(text, 201);
}

function bytesOf({ byteLength }: ArrayBufferView): string {
  return `${byteLength} bytes`;
}

function safeJson(thing: unknown): string {
  try {
    return JSON.stringify(thing) ?? unwritten(thing);
  } catch {
    return tagOf(thing); // cycles, bigints, things that refuse to be text
  }
}

function unwritten(thing: unknown): string {
  return typeof thing === 'function' ? 'a function' : typeof thing === 'object' ? tagOf(thing) : String(thing);
}

/** The kind of a thing that cannot be shown: `a value of type Map`. */
function tagOf(thing: unknown): string {
  try {
    const [, tag = ''] = /^\[object (\w{1,64})\]$/.exec(Object.prototype.toString.call(thing)) ?? [];
    return tag === '' || tag === 'Object' ? 'an object' : `a value of type ${tag}`;
  } catch {
    return 'something that cannot be shown'; // a proxy whose handler throws, or that was revoked
  }
}
