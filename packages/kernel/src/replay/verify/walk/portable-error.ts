/** Errors as data, which another thread can receive: details and causes included, links as links. */
import { type ErrorDetails, isRef, isRepriseError, Ref, RepriseError } from '@reprise/contracts';

/** An error as data, with details and causes, which another thread can receive. */
export type PortableError = Portable & { readonly tag: 'reprise' | 'error' | 'other' };

type Portable =
  | {
      readonly tag: 'reprise';
      readonly code: RepriseError['code'];
      readonly what: string;
      readonly details: Portable;
      readonly stack: string;
    }
  | {
      readonly tag: 'error';
      readonly name: string;
      readonly message: string;
      readonly stack: string;
      readonly cause: Portable;
    }
  | { readonly tag: 'ref'; readonly hex: string; readonly kind: 'raw' | 'value' }
  | { readonly tag: 'list'; readonly items: readonly Portable[] }
  | { readonly tag: 'map'; readonly entries: readonly (readonly [string, Portable])[] }
  | { readonly tag: 'plain'; readonly thing: unknown }
  | { readonly tag: 'other'; readonly text: string };

/** How deep details are taken over: values nest 64 deep, and a record of a frame more. */
const DEPTH_MAX = 200;

/** The error as data; anything but an error becomes its text. */
export function toPortable(error: unknown): PortableError {
  const portable = portableOf(error, 0);
  return portable.tag === 'reprise' || portable.tag === 'error' ? portable : { tag: 'other', text: textOf(error) };
}

/** The error again; of a text alone, an `Error` with it. */
export function fromPortable(portable: PortableError): unknown {
  return portable.tag === 'other' ? new Error(portable.text) : thingOf(portable);
}

function portableOf(thing: unknown, depth: number): Portable {
  try {
    return partsOf(thing, depth);
  } catch {
    return { tag: 'other', text: textOf(thing) }; // authors may throw things whose fields throw
  }
}

function partsOf(thing: unknown, depth: number): Portable {
  if (typeof thing !== 'object' || thing === null) {
    return typeof thing === 'function' || typeof thing === 'symbol'
      ? { tag: 'other', text: textOf(thing) }
      : { tag: 'plain', thing };
  }
  if (depth > DEPTH_MAX) return { tag: 'other', text: textOf(thing) };
  if (isRepriseError(thing)) {
    const { code, what, details, stack = '' } = thing;
    return { tag: 'reprise', code, what, details: portableOf({ ...details }, depth + 1), stack };
  }
  if (thing instanceof Error) {
    const { name, message, stack = '', cause } = thing;
    return { tag: 'error', name, message, stack, cause: portableOf(cause, depth + 1) };
  }
  if (isRef(thing)) return { tag: 'ref', hex: thing.hex, kind: thing.kind };
  if (thing instanceof Uint8Array) return { tag: 'plain', thing: new Uint8Array(thing) };
  if (Array.isArray(thing)) return { tag: 'list', items: thing.map((item) => portableOf(item, depth + 1)) };
  return {
    tag: 'map',
    entries: Object.entries(thing).map(([key, part]) => [key, portableOf(part, depth + 1)] as const),
  };
}

function thingOf(portable: Portable): unknown {
  switch (portable.tag) {
    case 'plain':
      return portable.thing;
    case 'other':
      return portable.text;
    case 'ref':
      return Ref.fromHex(portable.hex, portable.kind);
    case 'list':
      return portable.items.map(thingOf);
    case 'map':
      return Object.fromEntries(portable.entries.map(([key, part]) => [key, thingOf(part)]));
    case 'reprise': {
      const error = new RepriseError(portable.code, portable.what, thingOf(portable.details) as ErrorDetails);
      error.stack = portable.stack;
      return error;
    }
    case 'error': {
      const cause = thingOf(portable.cause);
      const error = new Error(portable.message, cause === undefined ? {} : { cause });
      error.name = portable.name;
      error.stack = portable.stack;
      return error;
    }
    default:
      return portable satisfies never;
  }
}

function textOf(thing: unknown): string {
  try {
    return String(thing);
  } catch {
    return typeof thing;
  }
}
