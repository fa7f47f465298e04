/**
 * The law of mutated streams: whatever happens to the events of an answer on its way, a reader gives an answer that a
 * reading of the events gives, or a failure with a name and a reason. The short form is a test, the long one a script.
 *
 * The oracle shares no code with the readers: it looks for each call's arguments among the texts of arguments that the
 * events hold, joined as their marks allow, and reads numbers token by token.
 */
import type { AiSdkModel } from '../src/index.js';
import { aiSdk } from '../src/index.js';
import { Scrubber } from '../src/transport/scrub.js';
import type { Judged } from '../src/transport/transport.js';
import { type AnswerFormat, FormatReader } from '../src/wire/answer-reader.js';
import { BYTE_FORMATS, type ByteFormat } from './pieces.js';
import { eventsOf, type Manner, type Said } from './stream-answers.js';
import { FORMATS } from './stream-laws.js';

/** The formats of the law: those that are read from bytes, and the parts of the AI SDK. */
export const MUTATED_FORMATS = [...BYTE_FORMATS, 'ai-sdk'] as const;

/** A format of the law. */
export type MutatedFormat = (typeof MUTATED_FORMATS)[number];

/** A generator of numbers that a seed determines: fast-check would spend most of the time of the long form. */
export class Dice {
  constructor(private state: number) {}

  /** An integer below `most`. */
  below(most: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  }

  /** One of these. */
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const NUMBERS = [
  '7',
  '-1',
  '9007199254740991',
  '9007199254740993',
  '2512292042121000001',
  '1e999',
  '1e21',
  '0.5',
  '-0',
];

/** A random answer; its arguments hold numbers of all sizes. */
function saidBy(dice: Dice): Said {
  const list = <T>(most: number, make: (i: number) => T) =>
    Array.from({ length: dice.below(most + 1) }, (_, i) => make(i));
  const args = (call: number) =>
    `{${list(3, (i) => `"k${i}":${dice.below(3) === 0 ? `"v${call}${i}}"` : dice.of(NUMBERS)}`).join(',')}}`;
  return {
    thoughts: list(2, () => dice.of(['hm', 'é☃'])),
    texts: list(3, () => dice.of(['Hello', ' world', '😀', '{"a":1}', ''])),
    calls: list(3, (i) => ({ id: `c${i}`, name: dice.of(['pay', 'get']), args: args(i) })),
    used: dice.below(100),
  };
}

function mannerBy(dice: Dice): Manner {
  return {
    marks: dice.of(['numbers', 'from one', 'ids', 'none', 'whole at zero', 'name in each']),
    parts: dice.below(3) === 0,
    picks: Array.from({ length: 8 }, () => dice.below(8)),
    step: 1 + dice.below(12),
  };
}

/** An answer on its way: its events after all mutations, and how they are sent. */
export interface Mutated {
  readonly events: readonly unknown[];
  readonly type: string | undefined;
  /** How many bytes of the end are missing. */
  readonly missing: number;
  /** How many bytes a piece has. */
  readonly piece: number;
}

/** Draws an answer of a format and mutates it. */
export function mutatedBy(dice: Dice, format: MutatedFormat): Mutated {
  let events = startOf(dice, format);
  for (let left = 1 + dice.below(4); left > 0; left--) events = mutate(dice, events);
  return {
    events,
    type: dice.of(['text/event-stream', 'text/event-stream', 'text/plain', 'application/json', undefined]),
    missing: dice.below(5) === 0 ? dice.below(300) : 0,
    piece: dice.of([1 << 20, 64, 7]),
  };
}

function startOf(dice: Dice, format: MutatedFormat): unknown[] {
  const [said, manner] = [saidBy(dice), mannerBy(dice)];
  const events = format === 'ai-sdk' ? partsOf(said, manner) : eventsOf(format, said, manner);
  return events.map((event) => (typeof event === 'string' ? event : JSON.parse(JSON.stringify(event))));
}

/** An answer as parts of the AI SDK. */
function partsOf(said: Said, { step }: Manner): unknown[] {
  const steps = (text: string) =>
    Array.from({ length: Math.ceil(text.length / step) }, (_, i) => text.slice(i * step, (i + 1) * step));
  const block = (type: string, id: string, pieces: readonly string[]) =>
    pieces.length === 0
      ? []
      : [
          { type: `${type}-start`, id },
          ...pieces.map((delta) => ({ type: `${type}-delta`, id, delta })),
          { type: `${type}-end`, id },
        ];
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r' },
    ...block('reasoning', 'r0', said.thoughts),
    ...block('text', 't0', said.texts),
    ...said.calls.flatMap(({ id, name, args }) => [
      { type: 'tool-input-start', id, toolName: name },
      ...steps(args).map((delta) => ({ type: 'tool-input-delta', id, delta })),
      { type: 'tool-input-end', id },
      { type: 'tool-call', toolCallId: id, toolName: name, input: args },
    ]),
    {
      type: 'finish',
      finishReason: { unified: said.calls.length > 0 ? 'tool-calls' : 'stop', raw: 'stop' },
      usage: { inputTokens: { total: said.used }, outputTokens: { total: said.used } },
    },
  ];
}

const ODD_VALUES: readonly unknown[] = [null, '', 0, 1, -1, 2 ** 53, 1e300, true, [], {}, 'x', '{"c":1}', [null]];

/** One mutation of a list of events. */
function mutate(dice: Dice, events: readonly unknown[]): unknown[] {
  const at = dice.below(Math.max(1, events.length));
  const to = dice.below(Math.max(1, events.length));
  switch (dice.below(11)) {
    case 0:
      return events.toSpliced(at, 1 + dice.below(3)); // missing
    case 1:
      return events.toSpliced(at, 0, events[at]); // doubled
    case 2:
      return events.toSpliced(at, 1).toSpliced(to, 0, events[at]); // another order
    case 3:
      return events.toSpliced(at, 0, ...startOf(dice, dice.of(MUTATED_FORMATS)).slice(0, 1 + dice.below(4))); // foreign
    case 4:
      return events.slice(0, at); // cut between events
    case 5:
      return [
        ...events.slice(0, at),
        dice.of(['[DONE]', { type: 'message_stop' }, { type: 'response.completed', response: { output: [] } }]),
      ];
    case 6:
      return events.toSpliced(at, 0, dice.of(['', ' ', 'null', '{}', '{"a":', '[DONE]', '[1]', 'ping']));
    case 7:
      return events.toSpliced(
        at,
        0,
        dice.of([
          { error: { message: 'no' } },
          { detail: 'no' },
          { object: 'error', message: 'no', code: 400 },
          { type: 'error', error: { type: 'overloaded_error' } },
        ]),
      );
    case 8:
      return [...events, ...startOf(dice, dice.of(MUTATED_FORMATS))]; // an answer behind it
    default:
      return events.toSpliced(at, 1, changed(dice, events[at])); // another or no value in a field
  }
}

function changed(dice: Dice, event: unknown): unknown {
  const copy: unknown = typeof event === 'string' ? event : structuredClone(event);
  let place = copy;
  for (let depth = 0; depth < 12; depth++) {
    if (typeof place !== 'object' || place === null) return copy;
    const fields = place as Record<string, unknown>;
    const keys = Object.keys(fields);
    if (keys.length === 0) return copy;
    const key = dice.of(keys);
    const inner = fields[key];
    const isDeep = typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0;
    if (isDeep && dice.below(5) > 0) {
      place = inner;
      continue;
    }
    if (dice.below(3) === 0) delete fields[key];
    else fields[key] = dice.of(ODD_VALUES);
    return copy;
  }
  return copy;
}

const utf8 = new TextEncoder();

function bytesOf({ events, missing }: Mutated): Uint8Array {
  const text = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
  const bytes = utf8.encode(text);
  return bytes.subarray(0, Math.max(0, bytes.length - missing));
}

/** What a reader made of a mutated answer, and the text that watchers were shown. */
export interface Outcome {
  readonly judged: Judged;
  readonly shown: string;
}

/** Reads a mutated answer. */
export type ReadMutated = (format: MutatedFormat, mutated: Mutated) => Promise<Outcome>;

const written = { body: utf8.encode('{"specification":"v3"}'), prefixBytes: 0, warnings: [] };

/** The readers of this library; `formats` replaces those of bytes. */
export function readerOf(formats: Readonly<Record<ByteFormat, AnswerFormat>> = FORMATS): ReadMutated {
  return async (format, mutated) => {
    let shown = '';
    const context = {
      signal: new AbortController().signal,
      idempotencyKey: '',
      progress: (note: { readonly type: string; readonly channel?: string; readonly text?: string }) => {
        if (note.type === 'delta' && note.channel === 'text') shown += note.text;
      },
      secret: async () => '',
    };
    if (format === 'ai-sdk') return { judged: await readParts(mutated, context), shown };
    const reader = new FormatReader({
      format: formats[format],
      written,
      context,
      idsInUse: [],
      scrubber: new Scrubber([]),
    });
    const response = new Response(
      null,
      mutated.type === undefined ? {} : { headers: { 'content-type': mutated.type } },
    );
    const bytes = bytesOf(mutated);
    let taken = bytes.length;
    for (let at = 0; at < bytes.length; at += mutated.piece) {
      const end = reader.take(bytes.subarray(at, at + mutated.piece), response);
      if (end === undefined) continue;
      taken = at + end;
      break;
    }
    const judged = reader.judge({
      kind: 'response',
      status: 200,
      headers: response.headers,
      body: bytes.subarray(0, taken),
    });
    return { judged, shown };
  };
}

async function readParts(
  { events }: Mutated,
  context: Parameters<ReturnType<typeof aiSdk>['generate']>[1],
): Promise<Judged> {
  const left = [...events];
  const stream = new ReadableStream<unknown>({
    pull: (controller) => (left.length === 0 ? controller.close() : controller.enqueue(left.shift())),
  });
  const model = {
    specificationVersion: 'v3',
    provider: 'p',
    modelId: 'm',
    doGenerate: async () => ({}),
    doStream: async () => ({ stream }),
  };
  const client = aiSdk(model as unknown as AiSdkModel, { retry: { retriesMax: 0 } });
  const request = {
    system: '',
    messages: [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'Go' }] }],
    tools: [],
  };
  const result = await client.generate(request, context);
  return result.ok ? result : { ...result, again: false };
}

/** What the law counts. */
export interface Tally {
  answers: number;
  failures: Record<string, number>;
  calls: number;
}

const CODES = /^(?:provider_error_(?:retryable|terminal)\/[a-z_]+)$/;

/**
 * Judges what a reader made of a mutated answer.
 *
 * @throws Error that says which part of the law is broken
 */
export function holdMutated(format: MutatedFormat, mutated: Mutated, { judged, shown }: Outcome, tally: Tally): void {
  if (!judged.ok) {
    const code = 'code' in judged.failure ? String(judged.failure.code) : judged.failure.status;
    if (!CODES.test(code)) throw new Error(`a failure has the code ${code}`);
    const reason = judged.error instanceof Error ? judged.error.message : judged.error;
    if (reason === undefined || reason === '') throw new Error(`${code} has no reason in words`);
    tally.failures[code] = (tally.failures[code] ?? 0) + 1;
    return;
  }
  const { text = '', calls, opaque = [], finishReason } = judged.response;
  tally.answers++;
  tally.calls += calls.length;
  if (plain(shown) !== plain(text)) throw new Error(`shown ${JSON.stringify(shown)}, final ${JSON.stringify(text)}`);
  const isEmpty = text.trim() === '' && calls.length === 0 && opaque.length === 0;
  if (isEmpty && !statesEnd(mutated)) throw new Error(`an answer with nothing ends as ${finishReason}`);
  const readings = new Readings(format, mutated);
  for (const { args, issue, tool } of calls) {
    if (issue === undefined && !readings.give(args))
      throw new Error(`no reading gives ${tool}(${JSON.stringify(args)})`);
  }
}

function plain(text: string): string {
  return text.replaceAll('\ufffd', '');
}

/** Whether some event states a reason for the end. */
function statesEnd({ events }: Mutated): boolean {
  return /"(?:finish_reason|stop_reason|finishReason|raw|unified|reason)":"[^"]|"status":"(?:completed|incomplete)"/.test(
    JSON.stringify(events),
  );
}

/** A piece of arguments, and the marks that it came with. */
interface Fragment {
  readonly marks: readonly string[];
  readonly text: string;
}

/** The fields that mark to which call a piece belongs. */
const MARKS = ['index', 'id', 'output_index', 'toolCallId', 'call_id'];

/** The types of events that hold arguments; events of other types are ignored. */
const TYPES: Readonly<Record<MutatedFormat, RegExp>> = {
  'openai-chat': /^$/,
  'openai-responses': /^response\.(?:function_call_arguments\.|output_item\.|completed$|incomplete$)/,
  'anthropic-messages': /^(?:content_block_start|content_block_delta|message_start)$/,
  'ai-sdk': /^tool-call$/,
};

/** Whether a piece of a messages stream is of a type without arguments. */
function isOfAnotherType(delta: unknown): boolean {
  const type: unknown =
    typeof delta === 'object' && delta !== null ? (delta as { readonly type?: unknown }).type : 'input_json_delta';
  return type !== 'input_json_delta';
}

/** The arguments that readings of the events give. */
class Readings {
  private readonly fragments: Fragment[] = [];

  constructor(format: MutatedFormat, { events }: Mutated) {
    let first: unknown;
    for (const event of events) {
      if (typeof event !== 'object' || event === null) continue;
      const { choices, type, delta } = event as Readonly<Record<string, unknown>>;
      if (format !== 'openai-chat') {
        const isForeign = !TYPES[format].test(String(type)) || isOfAnotherType(delta);
        if (!isForeign) this.collect(event, []);
        continue;
      }
      // Only one choice is requested: the first number that comes is that of the answer.
      if (!Array.isArray(choices)) continue;
      for (const choice of choices as readonly { readonly index?: unknown }[]) {
        first ??= choice?.index;
        if (choice?.index === undefined || choice.index === null || choice.index === first)
          this.collect({ ...choice, index: undefined }, []);
      }
    }
  }

  /** Whether a reading gives these arguments. */
  give(args: unknown): boolean {
    const wanted = sorted(args);
    if (wanted === '{}') return true; // a call without arguments
    const marks = new Set(this.fragments.flatMap((one) => one.marks));
    for (const mark of [...marks, undefined]) {
      const list = this.fragments.filter(
        (one) => mark === undefined || one.marks.length === 0 || one.marks.includes(mark),
      );
      for (let from = 0; from < list.length; from++) {
        let text = '';
        for (const { text: piece } of list.slice(from)) {
          text += piece;
          if (!text.trimEnd().endsWith('}') && !text.trimEnd().endsWith('"')) continue;
          if (readText(text) === wanted) return true;
        }
      }
    }
    return false;
  }

  /** Finds texts and objects of arguments, wherever they stand in an event. */
  private collect(thing: unknown, marks: readonly string[]): void {
    if (typeof thing !== 'object' || thing === null) return;
    const fields = thing as Readonly<Record<string, unknown>>;
    const here = MARKS.filter((name) => !['', null, undefined].includes(fields[name] as null));
    // The marks nearest to a piece count: a choice has a number, and so has each of its calls.
    const outer = marks.filter((mark) => !here.some((name) => mark.startsWith(`${name}:`)));
    const inside = [...outer, ...here.map((name) => `${name}:${String(fields[name])}`)];
    for (const [name, part] of Object.entries(fields)) {
      const isText = ['arguments', 'partial_json', 'input', 'delta'].includes(name);
      const isObject = ['arguments', 'input'].includes(name) && typeof part === 'object' && part !== null;
      if (isText && typeof part === 'string') this.fragments.push({ marks: inside, text: part });
      else if (isObject) this.fragments.push({ marks: inside, text: JSON.stringify(part) });
      this.collect(part, inside);
    }
  }
}

const TOKENS = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A text of JSON with its large numbers as texts, in one order of keys; undefined when it is not JSON. */
function readText(text: string): string | undefined {
  try {
    const data: unknown = JSON.parse(text.replace(TOKENS, (token) => (isLarge(token) ? JSON.stringify(token) : token)));
    return typeof data === 'string' ? readText(data) : sorted(data);
  } catch {
    return undefined;
  }
}

/** Whether a token is an integer beyond the safe ones, or no finite number; in exact arithmetic. */
function isLarge(token: string): boolean {
  if (token.startsWith('"')) return false;
  if (!Number.isFinite(Number(token))) return true;
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const unit = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % unit !== 0n) return false; // a fraction becomes the nearest double
  const integer = shift < 0 ? digits / unit : digits * unit;
  return integer > BigInt(Number.MAX_SAFE_INTEGER) || integer < BigInt(Number.MIN_SAFE_INTEGER);
}

function sorted(data: unknown): string {
  return JSON.stringify(data, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/**
 * Holds the law for random mutations.
 *
 * @throws Error with the seed of the mutation that breaks it, and its events
 */
export async function holdMutations(
  read: ReadMutated,
  format: MutatedFormat,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<Tally> {
  const tally: Tally = { answers: 0, failures: {}, calls: 0 };
  for (let run = 0; run < runs; run++) {
    const mutated = mutatedBy(new Dice(seed + run), format);
    try {
      holdMutated(format, mutated, await read(format, mutated), tally);
    } catch (cause) {
      const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      throw new Error(`${format}, seed ${seed + run}: ${why}\n${JSON.stringify(mutated)}`, { cause });
    }
  }
  return tally;
}
