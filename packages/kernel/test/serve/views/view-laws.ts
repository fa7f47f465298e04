/** The law of views over random worlds: kept live through crashes, made again, or asked for the past, the same bytes. */

import * as z from 'zod';
import type { ScheduleStep } from '../../../../testkit/src/arbitraries/index.js';
import {
  defineProjection,
  encode,
  equalBytes,
  type ProjectionDefinition,
  type ReadonlyStore,
} from '../../../src/index.js';
import {
  memoryViews,
  readViews,
  type ViewDefinition,
  type ViewStore,
  type Views,
} from '../../../src/serve/views/index.js';
import { runSchedule } from '../../support/laws/run-schedule.js';

/** Views that read, write, remove and index as much of random worlds as they can. */
export const LAW_VIEWS: readonly ViewDefinition[] = [
  defineProjection({
    name: 'law/Cells@1',
    row: z.strictObject({ events: z.int(), faults: z.int(), last: z.int(), effects: z.array(z.string()) }),
    from: { event: true, fault: true, effect: true, receipt: true, settled: true, 'fact:law/none@1': true },
    indexes: {
      events: (row) => [row.events, row.faults],
      quiet: ({ effects, last }) => (effects.length === 0 ? last : undefined),
    },
    fold(rows, { record, cell, effect, seq }) {
      const key = cell ?? ['none'];
      const row = rows.get(key) ?? { events: 0, faults: 0, last: 0, effects: [] };
      if (record.kind === 'event') row.events++;
      if (record.kind === 'fault') row.faults++;
      if (record.kind === 'effect') row.effects.push(record.effect);
      if (record.kind === 'receipt' || record.kind === 'settled')
        row.effects = row.effects.filter((id) => id !== effect?.id);
      rows.put(key, { ...row, last: seq });
    },
  }),
  defineProjection({
    name: 'law/Latest@1',
    row: z.strictObject({ seq: z.int(), i: z.int() }),
    from: { '*': true },
    indexes: { place: (row) => [row.seq, row.i] },
    fold(rows, { record, seq, i }) {
      rows.put(record.kind, { seq, i });
      rows.remove(['old', seq - 3]);
      if (i === 0) rows.put(['old', seq], { seq, i });
    },
  }),
];

/** What the law was held on. */
export interface HeldViews {
  readonly frames: number;
  readonly entries: number;
  readonly crashes: number;
}

/** What a mutant replaces. */
export interface ViewParts {
  readonly store?: (inner: ViewStore) => ViewStore;
}

/**
 * Runs a schedule, then keeps its views as many processes would: each folds some frames and dies at a commit, before
 * it or after it. What stands in the end must be what one undisturbed process makes, and so must every past.
 *
 * @throws Error naming the view and the entry
 */
export async function holdViews(schedule: readonly ScheduleStep[], parts: ViewParts = {}): Promise<HeldViews> {
  const run = await runSchedule(schedule);
  const store = await run.store.openReadonly();
  const last = (await store.journal.head()).seq;
  const kept = memoryViews();
  let crashes = 0;
  for (let seq = 0; seq <= last; seq += 1 + (crashes % 3)) {
    const dying = dyingStore((parts.store ?? ((inner) => inner))(kept), crashes % 2 === 0 ? 'before' : 'after');
    await readViews(upTo(store, seq), LAW_VIEWS, { store: dying }).catch((error: unknown) => {
      if (error !== DEATH) throw error;
    });
    crashes++;
  }
  const views = await readViews(store, LAW_VIEWS, { store: kept });
  const { views: found, differences } = await views.verify();
  if (differences.length > 0) throw new Error(`kept views differ: ${JSON.stringify(differences)}`);
  await holdPast(views, store, last >> 1);
  return { frames: last + 1, entries: found.reduce((sum, { entries }) => sum + entries, 0), crashes };
}

/** A past that is asked for is the view that a process made of the journal when it was that long. */
async function holdPast(views: Views, store: ReadonlyStore, seq: number): Promise<void> {
  await using past = await views.at(seq);
  await using then = await readViews(upTo(store, seq), LAW_VIEWS);
  for (const definition of LAW_VIEWS) {
    const [asked, made] = [await rowsOf(past, definition), await rowsOf(then, definition)];
    if (!equalBytes(encode(asked), encode(made))) throw new Error(`${definition.name} at ${seq} differs`);
  }
}

async function rowsOf(views: Views, definition: ViewDefinition): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const row of views.view(definition as ProjectionDefinition).each()) rows.push(row);
  return rows;
}

const DEATH = new Error('the process died');

/** A process that dies at its first commit, before it or after it. */
function dyingStore(inner: ViewStore, when: 'before' | 'after'): ViewStore {
  return {
    label: inner.label,
    open: async () => {
      const open = await inner.open();
      return {
        ...open,
        commit: async (commits) => {
          if (when === 'after') await open.commit(commits);
          throw DEATH;
        },
      };
    },
  };
}

/** A store as it was after a frame. */
export function upTo(store: ReadonlyStore, seq: number): Pick<ReadonlyStore, 'journal' | 'content'> {
  const { journal, content } = store;
  return {
    content,
    journal: {
      ...journal,
      head: async () => {
        for await (const frame of journal.read(seq, seq)) return { seq: frame.seq, digest: frame.head };
        return journal.head();
      },
      read: (from, to = seq) => journal.read(from, Math.min(to, seq)),
    },
  };
}
