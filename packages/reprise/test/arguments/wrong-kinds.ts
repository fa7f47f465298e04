/** Arguments of the wrong kind, derived from a call that is right. */
import { isRepriseError } from '@reprise/contracts';

/** A call that is right. */
export interface RightCall {
  /** As a caller writes it: `world.session`. */
  readonly name: string;
  readonly call: (...args: never[]) => unknown;
  readonly args: readonly unknown[];
  /** How many arguments are needed; all when absent. */
  readonly needed?: number;
  /** Places that take any value, or in which a value of another kind has a meaning: `1`, `0.args`. */
  readonly free?: readonly string[];
  /** Arguments that may have further fields. */
  readonly loose?: readonly number[];
}

/** A call of which one place is wrong. */
export interface WrongCall {
  readonly name: string;
  /** The argument, or its field: `0`, `0.model`. */
  readonly place: string;
  /** What stands there, in words. */
  readonly given: string;
  readonly run: () => unknown;
}

class Strange {
  readonly mine = 1;
}

/** A value of each kind; a promise holds the right value. */
function kinds(right: unknown): readonly (readonly [kind: string, given: string, value: unknown])[] {
  return [
    ['undefined', 'undefined', undefined],
    ['null', 'null', null],
    ['number', 'a number', 42.5],
    ['text', 'a text', '\u0000 no such thing'],
    ['text', 'an empty text', ''],
    ['boolean', 'true', true],
    ['list', 'a list', [42.5]],
    ['object', 'an object with an unknown field', { zzz: 1 }],
    ['object', 'an instance of a class', new Strange()],
    ['promise', 'a promise of the right value', Promise.resolve(right)],
    ['function', 'a function', () => right],
  ];
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}

/** Every call with one wrong place. */
export function* wrongCalls(right: RightCall): Generator<WrongCall> {
  const { args, needed = args.length, loose = [] } = right;
  for (const [i, arg] of args.entries()) {
    yield* wrongAt(right, [i], arg, i < needed);
    if (!isPlain(arg)) continue;
    if (!loose.includes(i)) yield made(right, [i, 'zzz'], 'an unknown field', 1);
    for (const [field, value] of Object.entries(arg)) yield* wrongAt(right, [i, field], value, false);
  }
}

function* wrongAt(right: RightCall, path: readonly [number, string?], value: unknown, isNeeded: boolean) {
  if (right.free?.includes(path.join('.'))) return;
  for (const [kind, given, wrong] of kinds(value)) {
    if (kind === kindOf(value) || (wrong === undefined && !isNeeded)) continue;
    yield made(right, path, given, wrong);
  }
}

function made(
  { name, call, args }: RightCall,
  path: readonly [number, string?],
  given: string,
  wrong: unknown,
): WrongCall {
  const [i, field] = path;
  const put = (arg: unknown) => (field === undefined ? wrong : { ...(arg as object), [field]: wrong });
  const changed = args.map((arg, n) => (n === i ? put(arg) : arg));
  return { name, place: path.join('.'), given, run: () => (call as (...given: unknown[]) => unknown)(...changed) };
}

function isPlain(arg: unknown): arg is Readonly<Record<string, unknown>> {
  return typeof arg === 'object' && arg !== null && Object.getPrototypeOf(arg) === Object.prototype;
}

/** Time in which a call has to answer, in milliseconds: generous, since only a call that never answers takes it. */
const HANGS_MS = 20_000;

/** What a call throws; undefined when it is accepted. The first item of a generator is read: it checks when it begins. */
export async function thrownBy(run: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it never answers')), HANGS_MS);
  });
  try {
    const answered = await Promise.race([run(), late]);
    if (isGenerator(answered)) await Promise.race([answered.next(), late]);
    return undefined;
  } catch (error) {
    return error ?? new Error('it threw nothing');
  } finally {
    clearTimeout(timer);
  }
}

function isGenerator(thing: unknown): thing is AsyncGenerator {
  return typeof thing === 'object' && thing !== null && Symbol.asyncIterator in thing && 'next' in thing;
}

/** What is wrong with an answer to a wrong argument; undefined for a refusal in words. */
export function flawOf(error: unknown): string | undefined {
  if (error === undefined) return 'it was accepted';
  if (!isRepriseError(error)) return `not a RepriseError: ${String(error)}`;
  if (/\[object |SessionReducer|aos\.agent\/|(?<!got )\bundefined\b|\$\.|Invalid input/.test(error.message))
    return `it shows what a caller did not write: ${error.message}`;
  return undefined;
}

/** What is wrong with a refusal that has to name the function, the argument or its field. */
export function unnamed(error: unknown, { name, place }: WrongCall): string | undefined {
  const [, field] = place.split('.');
  const words = [
    name,
    name.split('.').at(-1) ?? name,
    name.replace(/^define/, ''),
    ...(field === undefined ? [] : [field]),
  ];
  const said = String(error).toLowerCase();
  return words.some((word) => said.includes(word.toLowerCase())) || / at (?!\$)\w+/.test(said)
    ? undefined
    : `it names neither ${words.join(' nor ')}: ${String(error)}`;
}
