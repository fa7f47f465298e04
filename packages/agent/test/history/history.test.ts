/** The history in words: every message, call, decision and end once, whatever happens in a session. */
import { memory, type ReadonlyStore } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { History, type HistoryEntry } from '../../src/history/index.js';
import { defineAgent, defineTool } from '../../src/index.js';
import { play, type Step } from '../api/scene.js';
import { sourceIn } from './source-in.js';

const SEED = 20261123;

/** The entries of a store, as a second process would read them. */
async function entriesIn(store: ReadonlyStore): Promise<HistoryEntry[]> {
  const history = new History(store.content);
  const entries: HistoryEntry[] = [];
  for await (const frame of sourceIn(store).frames()) entries.push(...(await history.entriesOf(frame)));
  return entries;
}

const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  args: z.strictObject({ text: z.string() }),
  run: ({ text }) => `noted ${text}`,
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.strictObject({ text: z.string() }),
  approval: 'always',
  run: ({ text }) => `paid ${text}`,
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  args: z.strictObject({ text: z.string() }),
  run: ({ text }) => {
    throw new Error(`cannot ${text}`);
  },
});
const TOOLS = ['note', 'pay', 'fail'] as const;

/** Texts that could break a line, hide something or pass for other words. */
const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 24, unit: 'grapheme' }).map((one) => one.trim() || 'x'),
  fc.constantFrom('run 0 ends: completed', 'a\nb', '\u001b[2J', '" ann approves pay', 'calls note x: {}'),
);

/** What happens in one run: a message, and for each step the calls of the model with the decision about each. */
const run = fc.record({
  say: text,
  steps: fc.array(
    fc.record({
      says: fc.option(text, { nil: undefined }),
      calls: fc.array(fc.record({ tool: fc.constantFrom(...TOOLS), text, approve: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    { maxLength: 3 },
  ),
  end: fc.constantFrom('answer', 'fail', 'cancel'),
});

describe('the history in words', () => {
  it(`a history states each message, call, decision and end of random runs exactly once (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), async (runs) => {
        const store = memory();
        const told = await playRuns(store, runs);
        const entries = await entriesIn(await store.openReadonly());
        expect(problemsIn(entries, told)).toEqual([]);
      }),
      { seed: SEED, numRuns: 40, endOnFailure: true },
    );
  });

  it.each(['message', 'call', 'result', 'decision', 'end'] as const)(
    'the law finds a history that leaves out or repeats a %s',
    async (kind) => {
      const store = memory();
      const call = { tool: 'pay', text: 'x', approve: true } as const;
      const told = await playRuns(store, [{ say: 'Pay.', steps: [{ says: 'Well.', calls: [call] }], end: 'answer' }]);
      const entries = await entriesIn(await store.openReadonly());
      const one = entries.findIndex((entry) => entry.kind === kind);
      expect(problemsIn(entries, told)).toEqual([]);
      expect(problemsIn(entries.toSpliced(one, 1), told)).not.toEqual([]);
      expect(problemsIn(entries.toSpliced(one, 0, ...entries.slice(one, one + 1)), told)).not.toEqual([]);
    },
  );
});

/** What a history lacks, repeats or shows in a form that nobody can read. */
function problemsIn(entries: readonly HistoryEntry[], told: Told): string[] {
  const of = (kind: HistoryEntry['kind']) => entries.filter((entry) => entry.kind === kind);
  const pairs: readonly (readonly [what: string, found: unknown[], wanted: unknown[]])[] = [
    ['messages', of('message').map((entry) => entry.text), told.said],
    ['calls', of('call').map(({ call_id }) => call_id), told.calls],
    [
      'results',
      of('result')
        .map(({ call_id }) => call_id)
        .sort(),
      told.calls.toSorted(),
    ],
    [
      'decisions',
      of('decision')
        .filter(({ by }) => by === 'human:ann')
        .map(({ call_id }) => call_id)
        .sort(),
      told.decisions.toSorted(),
    ],
    ['ends', of('end').map((entry) => entry.run), told.ends],
    ['places', [...new Set(entries.map(({ place }) => place))], entries.map(({ place }) => place)],
  ];
  const problems = pairs.filter(([, found, wanted]) => JSON.stringify(found) !== JSON.stringify(wanted));
  return [
    ...problems.map(([what, found, wanted]) => `${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`),
    ...entries.filter(({ words }) => words.includes('[object')).map(({ words }) => words),
  ];
}

interface Told {
  readonly said: string[];
  readonly calls: string[];
  readonly decisions: string[];
  readonly ends: number[];
}

/** Plays runs on a store, and states what must be in its history. */
async function playRuns(store: ReturnType<typeof memory>, runs: readonly Run[]) {
  const agent = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.', tools: [note, pay, fail] });
  const told: Told = { said: [], calls: [], decisions: [], ends: runs.map((_, i) => i) };
  let number = 0;
  const ids = runs.map(({ steps }) => steps.map(({ calls }) => calls.map(() => `k${number++}`)));
  const script: Step[] = runs.flatMap(({ steps, end }, r) => [
    ...steps.map(({ says, calls }, s) => ({
      ...(says === undefined ? {} : { text: says }),
      calls: calls.map(({ tool, text }, c) => ({ id: ids[r]?.[s]?.[c] ?? '', tool, args: { text } })),
    })),
    end === 'fail'
      ? { outcome: { status: 'error' as const, code: 'provider_error_terminal/refused' as const, retryable: false } }
      : end === 'cancel'
        ? { calls: [{ id: `stop${r}`, tool: 'pay', args: { text: 'late' } }] }
        : { text: 'Done.' },
  ]);
  await play({ agents: [agent], steps: script, store }, async ({ world, settle }) => {
    const session = world.session('s', agent);
    for (const [r, { say, steps, end }] of runs.entries()) {
      told.said.push(say);
      await session.send(say);
      for (const [s, { calls }] of steps.entries()) {
        told.calls.push(...(ids[r]?.[s] ?? []));
        await settle();
        for (const item of await world.pending({ session: 's' })) {
          const c = ids[r]?.[s]?.indexOf(item.callId ?? '') ?? -1;
          const approve = calls[c]?.approve === true;
          told.decisions.push(item.callId ?? '');
          await world.decide(item.id, approve ? { approve: true } : { deny: 'no' }, { as: 'human:ann' });
        }
        await settle();
      }
      await settle();
      if (end !== 'cancel') continue;
      told.calls.push(`stop${r}`);
      await session.cancel({ scope: 'run' });
      await settle();
    }
  });
  return told;
}

type Run = typeof run extends fc.Arbitrary<infer R> ? R : never;
