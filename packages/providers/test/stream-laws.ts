/**
 * The laws of reading answers, shared by the short form in the tests and the long one.
 *
 * Cuts: an answer of any bytes, valid or not, has the same result or the same failure, with the same reported pieces,
 * wherever its bytes are cut. Orders: an answer in any event order that a provider may send has the calls, the text
 * and the reasoning that it was written with.
 */
import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { readMessage, readMessagesUsage } from '../src/anthropic/messages-response.js';
import { MessagesStream } from '../src/anthropic/messages-stream.js';
import { readChatUsage, readCompletion } from '../src/openai/chat-response.js';
import { ChatStream } from '../src/openai/chat-stream.js';
import { readResponse, readResponsesUsage } from '../src/openai/responses-response.js';
import { ResponsesStream } from '../src/openai/responses-stream.js';
import { post } from '../src/transport/http.js';
import { Scrubber } from '../src/transport/scrub.js';
import type { Judged } from '../src/transport/transport.js';
import { type AnswerFormat, FormatReader } from '../src/wire/answer-reader.js';
import { type ByteFormat, cutAt } from './pieces.js';
import { anyManner, anySaid, bodyOf, eventsOf, KEY, type Manner, type Said } from './stream-answers.js';

/** The reader of each format. */
export const FORMATS: Readonly<Record<ByteFormat, AnswerFormat>> = {
  'openai-chat': {
    stream: (scrubber, tell) => new ChatStream(scrubber, tell),
    read: readCompletion,
    usage: readChatUsage,
  },
  'openai-responses': {
    stream: (scrubber, tell) => new ResponsesStream(scrubber, tell),
    read: readResponse,
    usage: readResponsesUsage,
  },
  'anthropic-messages': {
    stream: (scrubber, tell) => new MessagesStream(scrubber, tell),
    read: readMessage,
    usage: readMessagesUsage,
  },
};

/** A reader's result of pieces, and the progress that it reported. */
export interface Reading {
  readonly judged: Judged;
  readonly told: readonly unknown[];
}

/** Reads an answer in pieces. */
export type ReadPieces = (format: ByteFormat, pieces: readonly Uint8Array[], streamed: boolean) => Promise<Reading>;

const written = { body: new Uint8Array(), prefixBytes: 0, warnings: [] };

/** A reader of these formats, over the clients' transport. */
export function readerOf(formats: Readonly<Record<ByteFormat, AnswerFormat>>): ReadPieces {
  return async (format, pieces, streamed) => {
    const told: unknown[] = [];
    const context = {
      signal: new AbortController().signal,
      idempotencyKey: '',
      progress: (note: unknown) => void told.push(note),
      secret: async () => '',
    };
    const scrubber = new Scrubber([KEY]);
    const answer = new FormatReader({ format: formats[format], written, context, idsInUse: ['c9'], scrubber });
    const headers = { 'content-type': streamed ? 'text/event-stream' : 'application/json' };
    const left = [...pieces];
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    const reply = await post({
      url: 'http://provider.test/',
      headers: new Headers(),
      body: new Uint8Array(),
      silenceMs: 60_000,
      totalMs: 60_000,
      signal: context.signal,
      fetch: async () => new Response(body, { headers }),
      onBytes: (bytes, response) => answer.take(bytes, response),
    });
    return { judged: answer.judge(reply), told };
  };
}

/** Faults that may happen to events in transit. */
const damage = fc.record({
  what: fc.constantFrom('drop', 'double', 'swap', 'noise', 'error', 'behind', 'cut'),
  at: fc.nat({ max: 200 }),
});

/** How events are encoded. */
const writing = fc.record({
  end: fc.constantFrom('\n', '\r\n', '\r'),
  lines: fc.boolean(),
  comments: fc.boolean(),
  mark: fc.boolean(),
});

type Writing = typeof writing extends fc.Arbitrary<infer T> ? T : never;
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

/** A random answer with its encoding, its faults and its cuts. */
export const anyBytes = fc.record({
  said: anySaid,
  manner: anyManner,
  writing,
  damages: fc.array(damage, { maxLength: 2 }),
  streamed: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});

/** An answer in transit. */
export type Drawn = typeof anyBytes extends fc.Arbitrary<infer T> ? T : never;

const utf8 = new TextEncoder();

/** The bytes of an answer. */
export function bytesOf(format: ByteFormat, { said, manner, writing: how, damages, streamed }: Drawn): Uint8Array {
  if (!streamed) return broken(utf8.encode(JSON.stringify(bodyOf(format, said))), damages);
  const events = damages.reduce((all, one) => damaged(all, one), eventsOf(format, said, manner));
  return broken(
    utf8.encode(`${how.mark ? '\ufeff' : ''}${events.map((event) => lineOf(event, how)).join('')}`),
    damages,
  );
}

function damaged(events: readonly unknown[], { what, at }: Damage): unknown[] {
  const place = at % Math.max(1, events.length);
  const [one, two] = [events[place], events[(place + 1) % events.length]];
  switch (what) {
    case 'drop':
      return events.toSpliced(place, 1);
    case 'double':
      return events.toSpliced(place, 0, one);
    case 'swap':
      return events.toSpliced(place, 1, two);
    case 'noise':
      return events.toSpliced(place, 0, '{"a":');
    case 'error':
      return events.toSpliced(place, 0, { type: 'error', error: { type: 'overloaded_error', message: KEY } });
    case 'behind':
      return [...events, ...events];
    default:
      return [...events];
  }
}

function broken(bytes: Uint8Array, damages: readonly Damage[]): Uint8Array {
  const cut = damages.find(({ what }) => what === 'cut');
  return cut === undefined ? bytes : bytes.subarray(0, Math.max(0, bytes.length - cut.at));
}

function lineOf(event: unknown, { end, lines, comments }: Writing): string {
  const text = typeof event === 'string' ? event : JSON.stringify(event, null, lines ? 1 : 0);
  const data = text.split('\n').map((line) => `data: ${line}${end}`);
  return `${comments ? `: ping${end}event: x${end}` : ''}${data.join('')}${end}`;
}

/** The positions at which an answer is cut, for one reading of it. */
export const anyCuts = fc.array(fc.nat({ max: 1 << 20 }), { minLength: 1, maxLength: 30 });

/**
 * Holds the law of cuts for one answer.
 *
 * @returns the number of cuts that were tried
 */
export async function holdCuts(
  read: ReadPieces,
  format: ByteFormat,
  drawn: Drawn,
  cuts: readonly (readonly number[])[],
): Promise<number> {
  const bytes = bytesOf(format, drawn);
  const whole = await read(format, [bytes], drawn.streamed);
  const each = Array.from(bytes, (_, i) => i);
  for (const places of [...cuts, ...(bytes.length < 600 ? [each] : [])])
    deepStrictEqual(await read(format, cutAt(bytes, places), drawn.streamed), whole, `${format} cut at ${places}`);
  return cuts.length;
}

/** Holds the law of orders for one answer. */
export async function holdOrders(read: ReadPieces, format: ByteFormat, said: Said, manner: Manner): Promise<void> {
  const events = eventsOf(format, said, manner);
  const bytes = utf8.encode(
    events.map((event) => lineOf(event, { end: '\n', lines: false, comments: false, mark: false })).join(''),
  );
  const { judged } = await read(format, [bytes], true);
  if (!judged.ok) throw new Error(`${format} ${manner.marks}: ${JSON.stringify(judged)}`);
  const { calls, text = '', opaque = [] } = judged.response;
  const scrubber = new Scrubber([KEY]);
  const expected = said.calls.map(({ name, args }) => [name, JSON.parse(scrubber.scrub(args)) as unknown]);
  // Calls are ordered by their first pieces, in any order.
  const sorted = (list: unknown[]) => list.map((one) => JSON.stringify(one)).sort();
  deepStrictEqual(
    sorted(calls.map(({ tool, args, issue }) => [tool, issue ?? sortedKeys(args)])),
    sorted(expected.map(([name, args]) => [name, sortedKeys(args)])),
  );
  deepStrictEqual(text, scrubber.scrub(said.texts.join('')));
  const thoughts = opaque.flatMap((part) => (part.kind === 'reasoning' ? [part.text ?? ''] : [])).join('');
  deepStrictEqual(thoughts, scrubber.scrub(said.thoughts.join('')));
}

function sortedKeys(args: unknown): unknown {
  return Object.entries(args as object).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Asserts a law over random answers; a failure shows the command that reproduces it. */
export async function hold<T>(
  law: fc.IRawProperty<T>,
  { numRuns, seed, command, shrink = true }: { numRuns: number; seed: number; command: string; shrink?: boolean },
): Promise<void> {
  const found = await fc.check(law, { numRuns, seed, endOnFailure: !shrink });
  if (!found.failed) return;
  const example = JSON.stringify(found.counterexample).slice(0, 4_000);
  throw new Error(`${String(found.errorInstance)}\nrerun with seed ${seed}: ${command}\n${example}`, {
    cause: found.errorInstance,
  });
}
