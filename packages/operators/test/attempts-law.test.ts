/** What may have run twice in random worlds whose processes die, beside the attempts and receipts of their journals. */
import type { WorldPart } from '@reprise/agent';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { compareHistories, type Histories, type Pair, type Place } from '../../cli/test/views/histories.js';
import { TEAMS } from '../../cli/test/views/teams.js';
import { type AttemptRow, attemptsOf, attemptsReport } from '../src/attempts/index.js';
import { pageOf } from '../src/page/page.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? 25 : 2_500;

let again = 0;

function attemptsIn<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  return { part, answer, act, look: compareAttempts };
}

async function compareAttempts({ store, draw, at }: Place<WorldPart>): Promise<readonly Pair[]> {
  const report = await attemptsOf(store);
  const recent = await attemptsOf(store, { from: 'snapshot' });
  const part = await attemptsOf(store, { from: draw(at.head.seq + 1) });
  const expected = await repeatedIn(store, 0);
  again += expected.again.length;
  const idsOf = (kind: string) =>
    report.rows
      .filter((row) => row.kind === kind)
      .map(({ effect }) => effect)
      .sort();
  const missing = (await repeatedIn(store, recent.from)).again.filter(
    (id) => !recent.rows.some(({ effect, kind }) => effect === id && kind === 'again'),
  );
  return [
    ['the schema of the report', attemptsReport.safeParse(report).success, true],
    ['effects that were started again', idsOf('again'), expected.again],
    ['unknown outcomes', idsOf('unknown'), expected.unknown],
    ['those since the snapshot that are not listed', missing, []],
    ['the rows since the snapshot', recent.rows, await rowsSince(store, report.rows, recent.from)],
    ['the rows since a frame', part.rows, await rowsSince(store, report.rows, part.from)],
  ];
}

/** The rows of the whole answer that belong to a frame and those behind it; what was open there has no place. */
async function rowsSince(
  store: ReadonlyStore,
  all: readonly AttemptRow[],
  from: number,
): Promise<readonly AttemptRow[]> {
  const [emitted, ended] = [new Map<string, number>(), new Map<string, number>()];
  for await (const { seq, bytes } of store.journal.read(0))
    for (const record of readFrame(bytes, seq).all) {
      if (record.kind === 'effect') emitted.set(record.effect, seq);
      if ((record.kind === 'receipt' || record.kind === 'settled') && !ended.has(record.effect))
        ended.set(record.effect, seq);
    }
  const isOpen = ({ kind, effect }: AttemptRow) => kind === 'again' && (ended.get(effect) ?? from) >= from;
  const before = all
    .filter((row) => (row.place?.frame ?? 0) < from && isOpen(row))
    .sort((a, b) => (emitted.get(a.effect) ?? 0) - (emitted.get(b.effect) ?? 0) || (a.effect < b.effect ? -1 : 1));
  return [...before.map((row) => ({ ...row, place: null })), ...all.filter(({ place }) => (place?.frame ?? 0) >= from)];
}

/** The effects with a second attempt, and those with an unknown outcome, by the records alone. */
async function repeatedIn(store: ReadonlyStore, from: number) {
  const [repeated, unknown] = [new Set<string>(), new Set<string>()];
  for await (const { seq, bytes } of store.journal.read(from))
    for (const record of readFrame(bytes, seq).all) {
      if (record.kind === 'attempt' && record.attempt > 1) repeated.add(record.effect);
      if (record.kind === 'receipt' && record.receipt.status === 'outcome_unknown') unknown.add(record.effect);
    }
  return { again: [...repeated].sort(), unknown: [...unknown].sort() };
}

describe(`what may have run twice (seed ${SEED})`, () => {
  it('given random teams whose processes die, when it is asked what ran twice, then each effect with a second attempt or an unknown outcome is listed once, and the rows since a snapshot or a frame are those of the whole answer', async () => {
    const { differences, places } = await compareHistories(attemptsIn(TEAMS), { places: PLACES, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES);
    expect(again).toBeGreaterThan(0);
  });
});

describe('pages of an answer', () => {
  it('given a list, when its pages are followed by their cursors, then each entry comes once and in order, and an unknown cursor is refused', () => {
    const all = Array.from({ length: 10 }, (_, i) => `e${i}`);
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = pageOf(all, { limit: 3, ...(after === undefined ? {} : { after }) }, (item) => item);
      seen.push(...page.items);
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toEqual(all);
    expect(() => pageOf(all, { after: 'gone' }, (item) => item)).toThrow('no entry has this cursor');
  });
});
