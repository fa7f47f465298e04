import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { ChatStream } from '../src/openai/chat-stream.js';
import { EventStream } from '../src/transport/sse.js';
import type { AnswerFormat } from '../src/wire/answer-reader.js';
import type { AnswerStream, Fields } from '../src/wire/answer-stream.js';
import { BYTE_FORMATS, type ByteFormat } from './pieces.js';
import { anyManner, anySaid } from './stream-answers.js';
import { anyBytes, anyCuts, FORMATS, hold, holdCuts, holdOrders, type ReadPieces, readerOf } from './stream-laws.js';

const command = 'npx vitest run packages/providers/test/stream-laws.test.ts';
const read = readerOf(FORMATS);

const cuts = (reader: ReadPieces, format: ByteFormat) =>
  fc.asyncProperty(anyBytes, fc.array(anyCuts, { minLength: 1, maxLength: 4 }), async (drawn, places) => {
    await holdCuts(reader, format, drawn, places);
  });
const orders = (reader: ReadPieces, format: ByteFormat) =>
  fc.asyncProperty(anySaid, anyManner, (said, manner) => holdOrders(reader, format, said, manner));

describe.each(BYTE_FORMATS)('an answer in %s', (format) => {
  it('an answer has the same result or failure wherever its bytes are cut (seed 31) [MOD-25]', async () => {
    await hold(cuts(read, format), { seed: 31, numRuns: 250 / stepOf(5), command });
  });

  it('an answer has its original calls in any event order that a provider may send (seed 32) [MOD-28]', async () => {
    await hold(orders(read, format), { seed: 32, numRuns: 300 / stepOf(4), command });
  });
});

/** The formats with a replaced reader for chat streams. */
const withStream = (change: (stream: AnswerStream) => void): Readonly<Record<ByteFormat, AnswerFormat>> => ({
  ...FORMATS,
  'openai-chat': {
    ...FORMATS['openai-chat'],
    stream: (scrubber, tell) => {
      const stream = new ChatStream(scrubber, tell);
      change(stream);
      return stream;
    },
  },
});

/** A mutant that reads past the end, as long as the piece continues. */
function readsOn(stream: AnswerStream): void {
  const push = stream.push.bind(stream);
  stream.push = (bytes) => {
    let from = push(bytes);
    for (let end = from; end !== undefined && end < bytes.length; from = end) {
      stream.over = false;
      const next = push(bytes.subarray(end));
      end = next === undefined || next === 0 ? bytes.length : end + next;
    }
    if (from !== undefined) stream.over = true;
    return from;
  };
}

/** A mutant that forgets between two pieces that the first one ended in a carriage return. */
class ForgetfulEvents extends EventStream {
  override read(bytes: Uint8Array) {
    Reflect.set(this, 'afterReturn', false);
    return super.read(bytes);
  }
}

/** A mutant that uses a call's number as its position, and appends unnumbered pieces to the last call. */
class ByPlace {
  private readonly calls: { id?: unknown; name: string; args: string }[] = [];

  take({ index, id, function: given }: Fields) {
    const { name = '', arguments: args = '' } = given as { name?: string; arguments?: string };
    const last = Math.max(0, this.calls.length - 1);
    const numbered = typeof index === 'number' && index <= this.calls.length ? index : undefined;
    const place = numbered ?? (id === undefined ? last : this.calls.length);
    const call = this.calls[place] ?? { name: '', args: '' };
    this.calls[place] = call;
    call.id ??= id;
    call.name += name;
    call.args += args;
    return { place, args };
  }

  whole() {
    return this.calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } }));
  }
}

/** A mutant that decodes each piece as a text of its own. */
const characterWise: ReadPieces = (format, pieces, streamed) => {
  const utf8 = new TextEncoder();
  return read(
    format,
    pieces.map((piece) => utf8.encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(piece))),
    streamed,
  );
};

describe('the laws of reading answers find a mutant', () => {
  const found = (law: fc.IRawProperty<unknown>) =>
    expect(hold(law, { seed: 33, numRuns: 2_000, command, shrink: false })).rejects.toThrow(/rerun/);

  it('a mutant that reads past the end in the same piece is found', () =>
    found(cuts(readerOf(withStream(readsOn)), 'openai-chat') as fc.IRawProperty<unknown>));

  it('a mutant that forgets half a CRLF between two pieces is found', () => {
    const forgetful = withStream((stream) => void Reflect.set(stream, 'events', new ForgetfulEvents()));
    return found(cuts(readerOf(forgetful), 'openai-chat') as fc.IRawProperty<unknown>);
  });

  it('a mutant that decodes the two halves of a character separately is found', () =>
    found(cuts(characterWise, 'anthropic-messages') as fc.IRawProperty<unknown>));

  it('a mutant that uses the number of a call as its position is found', () => {
    const byPlace = withStream((stream) => void Reflect.set(stream, 'calls', new ByPlace()));
    return found(orders(readerOf(byPlace), 'openai-chat') as fc.IRawProperty<unknown>);
  });
});
