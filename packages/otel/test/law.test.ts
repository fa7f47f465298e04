/**
 * The spans of random histories. The adversaries: processes that die at any append and are opened again, model calls that are
 * sent several times, cells that fail and are revived, inputs that queue, move to other runs and are dropped, children that
 * outlive the call that made them, nodes that are tried again, and a reader of traces that stops at every frame.
 */
import { describe, expect, it } from 'vitest';
import { spread, stepOf } from '../../../conformance/part.js';
import { plain } from '../../cli/test/views/histories.js';
import { otlpTraces, type Span, type TraceFrame, Tracer } from '../src/index.js';
import { journalOf, KINDS } from './support/journals.js';
import { problemsIn } from './support/rules.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
/** Histories of each kind: a thousand together when all are played. */
const HISTORIES = {
  sessions: 600 / stepOf(20),
  trees: 300 / stepOf(50),
  teams: 70 / stepOf(35),
  swarms: 30 / stepOf(30),
};

function spansOf(frames: readonly TraceFrame[], tracer = new Tracer()): Span[] {
  return frames.flatMap((frame) => tracer.take(frame));
}

/** A span as it is exported, and the content that it links. */
function bytesOf(span: Span): string {
  return `${otlpTraces([span])} ${JSON.stringify(plain(span.content))}`;
}

describe(`the spans of random histories (seed ${SEED})`, () => {
  it.each(KINDS)(
    'given random %s that act, die and are opened again, when their journals become spans, then each has what the conventions require, one parent in its own trace, and an id of its own [TRACE-3, TRACE-5, TRACE-6, TRACE-13]',
    async (kind) => {
      const seen = new Set<string>();
      for (let seed = SEED; seed < SEED + HISTORIES[kind]; seed++) {
        const tracer = new Tracer();
        const ended = spansOf(await journalOf(kind, seed), tracer);
        const open = tracer.open();
        expect({ seed, problems: problemsIn([...ended, ...open]) }).toEqual({ seed, problems: [] });
        expect(ended.filter(({ attributes }) => attributes['reprise.open'] !== undefined)).toEqual([]);
        expect(open.filter(({ attributes }) => attributes['reprise.open'] !== true)).toEqual([]);
        for (const { attributes } of ended) seen.add(String(attributes['gen_ai.operation.name']));
      }
      // A law of histories in which nothing happens would say nothing.
      const organized = kind === 'sessions' ? [] : ['invoke_workflow'];
      expect(['chat', 'invoke_agent', ...organized].filter((name) => !seen.has(name))).toEqual([]);
    },
  );

  it.each(KINDS)(
    'given a journal of random %s, when a tracer is stored after any frame and taken up again, then the spans are the same bytes as those of one that read on [TRACE-2]',
    async (kind) => {
      const frames = await journalOf(kind, SEED);
      const whole = spansOf(frames).map(bytesOf);
      for (const { seq } of spread(kind === 'sessions' ? 2 : 9, frames)) {
        const first = new Tracer();
        const before = spansOf(frames.slice(0, seq + 1), first);
        const second = Tracer.from(first.stored());
        if (second === undefined) throw new Error('a stored tracer is not taken up');
        expect(second.seq).toBe(seq);
        const all = [...before, ...spansOf(frames.slice(seq + 1), second)].map(bytesOf);
        expect(all.length).toBe(whole.length);
        expect(all.find((span, i) => span !== whole[i])).toBe(undefined);
      }
    },
  );

  it('what a tracer stores does not grow with the age of a journal in which nothing is open [TRACE-4]', async () => {
    const sizes = [];
    for (let seed = SEED; seed < SEED + 4; seed++) {
      const tracer = new Tracer();
      const frames = await journalOf('trees', seed);
      const spans = spansOf(frames, tracer);
      expect(spans.length).toBeGreaterThan(10);
      sizes.push([tracer.size, tracer.stored().length > 400]);
    }
    expect(sizes).toEqual(sizes.map(() => [0, false]));
  });

  it('a frame that does not follow the last one is refused', async () => {
    const [first, , third] = await journalOf('sessions', SEED);
    const tracer = new Tracer();
    if (first === undefined || third === undefined) throw new Error('the journal is too short');
    tracer.take(first);
    expect(() => tracer.take(third)).toThrow(/out of order/);
  });
});
