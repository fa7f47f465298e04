import type { JournalRecord } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { type Came, holdLine, promiseTrial, queueTrial, type Trial, topicTrial } from './support/trials.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);

/** The long form, with ten thousand of each: `scripts/long/flow.ts`. */
describe(`given a process that dies at random commits (seed ${SEED})`, () => {
  it.each<[string, (trial: Trial) => Promise<Came>, number, number]>([
    ['each of many items runs once, in its turn, with five slots', queueTrial, 120, 10],
    ['each subscriber of a topic gets everything that it requested, once and in order', topicTrial, 150, 10],
    ['each cell that awaits promises is informed of their ends once', promiseTrial, 60, 8],
  ])('work goes on when a process dies at random commits: %s [FLOW-8]', async (_, trial, size, killEvery) => {
    const { deaths } = await trial({ seed: SEED, size, killEvery });
    expect(deaths).toBeGreaterThan(2);
  });
});

describe('the judge of lines', () => {
  const event = (name: string, value: object): JournalRecord =>
    ({ kind: 'event', c: 0, to: ['flow/Queue@1', 'line'], from: null, event: { name, value } }) as JournalRecord;
  const enqueued = (item: string, priority = 0) => event('flow/Enqueue@1', { item, priority });
  const granted = (item: string) => event('flow/Granted@1', { item });
  const done = (item: string) => event('flow/Done@1', { item });

  it('the judge accepts a line whose items were all done', () => {
    holdLine([enqueued('a'), enqueued('b', 1), granted('b'), done('b'), granted('a'), done('a')], 1, 2);
  });

  it.each<[string, JournalRecord[]]>([
    ['was granted twice', [enqueued('a'), granted('a'), done('a'), granted('a')]],
    ['before its turn', [enqueued('a'), enqueued('b'), granted('b')]],
    ['before its turn', [enqueued('a'), enqueued('b', 1), granted('a')]],
    ['have a slot', [enqueued('a'), enqueued('b'), granted('a'), granted('b')]],
    ['items 1 are done', [enqueued('a'), enqueued('b'), granted('a'), done('a')]],
  ])('the judge finds a broken line: %s', (what, records) => {
    expect(() => holdLine(records, 1, 2)).toThrow(what);
  });
});
