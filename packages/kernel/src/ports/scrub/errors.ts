/** The texts of errors without secrets: one to store, and one to show. */
import { type ErrorDetail, isWhole, shortText, wellFormed } from '@reprise/contracts';
import { bytesIn, plainness } from '../../pure/codec/kinds.js';
import { ERROR_CAUSES_MAX, ERROR_TEXT_LENGTH_MAX } from './bounds.js';
import type { Scrubber } from './scrubber.js';

/** The number of objects of one error that are searched for secrets: HTTP clients put request and response there. */
const OBJECTS_MAX = 2_000;

/** The stored form of an error: names, texts and codes of it and of its causes. No stack: it differs between machines. */
export function detailOfError(thrown: unknown, scrubber: Scrubber): ErrorDetail {
  const [first, ...causes] = chainOf(thrown).map((one) => detailOf(one, scrubber));
  const { status, server } = fieldsOf(thrown);
  return {
    ...(first ?? { name: 'Error', message: '' }),
    ...(isWhole(status) ? { status } : {}),
    ...(typeof server === 'string' && server !== ''
      ? { server: wellFormed(shortText(scrubber.scrub(server), 256)) }
      : {}),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

function detailOf(thrown: unknown, scrubber: Scrubber): Omit<ErrorDetail, 'causes' | 'status' | 'server'> {
  const { name, message, code } = fieldsOf(thrown);
  const text = typeof message === 'string' ? message : textOf(thrown);
  return {
    name: wellFormed(shortText(scrubber.scrub(typeof name === 'string' && name !== '' ? name : 'Error'), 128)),
    message: wellFormed(shortText(scrubber.scrub(text), ERROR_TEXT_LENGTH_MAX)),
    ...(typeof code === 'string' && code !== '' ? { code: wellFormed(shortText(scrubber.scrub(code), 128)) } : {}),
  };
}

/** An error and its causes. Anything can be thrown, also objects that throw when they are read. */
function chainOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  const waiting: unknown[] = [thrown];
  while (waiting.length > 0 && chain.length <= ERROR_CAUSES_MAX) {
    const next = waiting.shift();
    if (next === undefined || chain.includes(next)) continue;
    chain.push(next);
    const { cause, errors } = fieldsOf(next);
    waiting.push(cause, ...(Array.isArray(errors) ? errors : []));
  }
  return chain;
}

/** The fields of an error that are read. */
const FIELDS = ['name', 'message', 'code', 'status', 'server', 'cause', 'errors'] as const;

function fieldsOf(thrown: unknown): Readonly<Record<string, unknown>> {
  if (typeof thrown !== 'object' || thrown === null) return {};
  const read = (name: string): unknown => {
    try {
      return (thrown as Readonly<Record<string, unknown>>)[name];
    } catch {
      return undefined;
    }
  };
  return Object.fromEntries(FIELDS.map((name) => [name, read(name)]));
}

function textOf(thrown: unknown): string {
  try {
    return typeof thrown === 'object' && thrown !== null ? (JSON.stringify(thrown) ?? '') : String(thrown);
  } catch {
    return 'a value without a text';
  }
}

/**
 * The error to show: itself when it contains no secret, else another of its class with the same fields, scrubbed. A field
 * that cannot be searched, such as a socket, is then only named.
 */
export function shownError(thrown: unknown, scrubber: Scrubber): unknown {
  if (scrubber.idle) return thrown;
  const copying = new Copying(scrubber);
  const copy = copying.copy(thrown);
  return copying.changed ? copy : thrown;
}

class Copying {
  /** Whether the copy differs from the original anywhere. */
  changed = false;
  readonly #seen = new Map<object, unknown>();

  constructor(private readonly scrubber: Scrubber) {}

  copy(thing: unknown): unknown {
    if (typeof thing === 'string') return this.#text(thing);
    if (typeof thing !== 'object' || thing === null) return thing;
    if (this.#seen.has(thing)) return this.#seen.get(thing);
    if (this.#seen.size >= OBJECTS_MAX) return this.#named(thing);
    try {
      return this.#within(thing);
    } catch {
      return this.#named(thing);
    }
  }

  #text(text: string): string {
    const scrubbed = this.scrubber.scrub(text);
    if (scrubbed !== text) this.changed = true;
    return scrubbed;
  }

  #within(thing: object): unknown {
    const bytes = bytesIn(thing);
    if (bytes !== undefined) {
      const scrubbed = this.scrubber.bytes(bytes);
      if (scrubbed !== bytes) this.changed = true;
      return scrubbed;
    }
    if (isError(thing)) return this.#fields(thing, likeError(thing));
    const kind = plainness(thing);
    if (kind === 'neither') return this.#named(thing);
    return this.#fields(thing, kind === 'list' ? [] : {});
  }

  #fields<T extends object>(thing: object, into: T): T {
    this.#seen.set(thing, into);
    for (const key of Reflect.ownKeys(thing)) {
      const { enumerable = false } = Object.getOwnPropertyDescriptor(thing, key) ?? {};
      if (key === 'length' && Array.isArray(thing)) continue;
      const name = typeof key === 'string' ? this.#text(key) : key;
      const value = this.copy((thing as Readonly<Record<PropertyKey, unknown>>)[key]);
      Object.defineProperty(into, name, { value, enumerable, configurable: true, writable: true });
    }
    return into;
  }

  /** The object cannot be searched. */
  #named(thing: object): string {
    this.changed = true;
    return `[${Object.getPrototypeOf(thing)?.constructor?.name ?? 'object'}]`;
  }
}

/** An error of the same class without any fields: its constructor might need arguments. */
function likeError(error: Error): Error {
  const like = new Error('…');
  for (const key of Reflect.ownKeys(like)) Reflect.deleteProperty(like, key);
  return Object.setPrototypeOf(like, Object.getPrototypeOf(error));
}

function isError(thing: object): thing is Error {
  return thing instanceof Error || Object.prototype.toString.call(thing) === '[object Error]';
}
