/** What a world cost, summed by agent, day, node, task or model. */

import { aList, type OptionKind, RepriseError, wholeFrom } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type SnapshotLeaves, snapshotBefore } from '@reprise/kernel/inspect';
import type { Owner } from '../names/owner.js';
import { firstFrameSince, frameOf } from '../page/frames.js';
import { type PageOptions, pageOf } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireQuestion } from '../page/require.js';
import { skimFrames } from '../skim/index.js';
import { COST_KEYS, type CostKey, type CostReport, type CostRow, type CostSums } from './report.js';
import { type Repeated, UsageFold, type Used } from './usage-fold.js';

/** What is summed, by what, and over which time. */
export interface CostOfOptions extends PageOptions {
  /** What is summed by: one row for each combination. By agent when absent. */
  readonly by?: readonly CostKey[];
  /** Receipts from this time on, and before this time, in journal milliseconds; all when absent. */
  readonly from?: number;
  readonly to?: number;
  /** The last frame that counts; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof CostOfOptions, true | OptionKind>> = {
  ...{ ...AT_OPTIONS, ...PAGE_OPTIONS },
  ...{ by: aList, from: wholeFrom(0), to: wholeFrom(0) },
};

/**
 * Sums what receipts state: tokens and money, and how many model calls state no price. With `from`, reading begins at the
 * newest snapshot before that time, or at the first frame where a late report is of an effect that ended before the snapshot.
 *
 * @throws RepriseError `invalid_argument` for another key or frame, a time that ends before it begins, or a cursor that no row has
 * @example const { rows, total } = await costOf(store, { by: ['agent', 'day'] })
 */
export async function costOf(store: ReadonlyStore, options: CostOfOptions = {}): Promise<CostReport> {
  requireQuestion('costOf', store, options, KNOWN);
  const { by = ['agent'], from, to, at, signal } = options;
  requireKeys(by);
  const last = await frameOf(store, at);
  requireTimes(from, to);
  const first = from === undefined ? 0 : await firstFrameSince(store, from, last);
  const reading = { store, by, from, to, last, signal };
  const snapshot = await snapshotBefore(store, first - 1);
  const found = await sumsOf(reading, snapshot);
  const sums = found.lacksFrames ? (await sumsOf(reading, await snapshotBefore(store, -1))).sums : found.sums;
  const { items, next } = pageOf(sums.rows, options, ({ keys }) => JSON.stringify(keys));
  const { total } = sums;
  return {
    ...{ frame: last, by: [...by], from: from ?? null, to: to ?? null },
    ...{ rows: [...items], total, notes: notesOn(total), next },
  };
}

/** What is read, and how it is summed. */
interface Reading {
  readonly store: ReadonlyStore;
  readonly by: readonly CostKey[];
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly last: number;
  readonly signal: AbortSignal | undefined;
}

/** Sums from a snapshot on. @returns the sums, and whether they need frames from before the snapshot */
async function sumsOf(
  { store, by, from = 0, to = Number.POSITIVE_INFINITY, last, signal }: Reading,
  snapshot: SnapshotLeaves,
): Promise<{ readonly sums: CostTable; readonly lacksFrames: boolean }> {
  const sums = new CostTable(by);
  const fold = new UsageFold();
  await fold.load(snapshot);
  const add = (given: readonly (Used | Repeated)[]): void => {
    for (const one of given) if (one.at >= from) sums.add(one);
  };
  await skimFrames(store, { from: snapshot.seq + 1, to: last, signal }, (_, at, records) => {
    if (at >= to) return false;
    add(fold.take(at, records));
    return !fold.lacksFrames;
  });
  add(fold.rest());
  return { sums, lacksFrames: fold.lacksFrames };
}

function requireTimes(from: number | undefined, to: number | undefined): void {
  if (from === undefined || to === undefined || from < to) return;
  throw new RepriseError('invalid_argument', 'the time ends before it begins', {
    where: 'to',
    expected: `a time after ${new Date(from).toISOString()}`,
    actual: new Date(to).toISOString(),
  });
}

function requireKeys(by: readonly CostKey[]): void {
  const [wrong] = by.filter((key, i) => !COST_KEYS.includes(key) || by.indexOf(key) !== i);
  if (by.length > 0 && wrong === undefined) return;
  throw new RepriseError('invalid_argument', 'cost cannot be summed by this', {
    where: 'by',
    expected: `some of ${COST_KEYS.join(', ')}, each once`,
    actual: by.length === 0 ? 'an empty list' : wrong,
  });
}

const NOTHING: CostSums = {
  ...{ calls: 0, tokens_in: 0, tokens_out: 0, tokens_cached: 0 },
  ...{ micro_money: 0, unpriced: 0, repeated: 0 },
};

/** The rows of a report while they are summed. */
class CostTable {
  readonly #rows = new Map<string, CostRow>();
  total = NOTHING;

  constructor(private readonly by: readonly CostKey[]) {}

  /** In the order of their keys; what has no key stands last. */
  get rows(): readonly CostRow[] {
    return [...this.#rows.values()].sort((a, b) => compareKeys(a.keys, b.keys));
  }

  add(one: Used | Repeated): void {
    if (one.kind === 'repeated') return this.#put(keysOf(this.by, one), { ...NOTHING, repeated: 1 });
    const { usage, isModelCall, isLate, isOk } = one;
    const isUsed = isModelCall && (isOk || (usage.tokens_in ?? 0) + (usage.tokens_out ?? 0) > 0);
    const amounts: CostSums = {
      calls: isModelCall && !isLate ? 1 : 0,
      tokens_in: usage.tokens_in ?? 0,
      tokens_out: usage.tokens_out ?? 0,
      tokens_cached: usage.tokens_cached ?? 0,
      micro_money: usage.micro_money ?? 0,
      unpriced: isUsed && usage.micro_money === undefined ? 1 : 0,
      repeated: 0,
    };
    if (Object.values(amounts).some((amount) => amount > 0)) this.#put(keysOf(this.by, one), amounts);
  }

  #put(keys: CostRow['keys'], amounts: CostSums): void {
    const id = JSON.stringify(keys);
    this.#rows.set(id, { keys, ...sumOf(this.#rows.get(id) ?? NOTHING, amounts) });
    this.total = sumOf(this.total, amounts);
  }
}

function sumOf(a: CostSums, b: CostSums): CostSums {
  return {
    calls: a.calls + b.calls,
    tokens_in: a.tokens_in + b.tokens_in,
    tokens_out: a.tokens_out + b.tokens_out,
    tokens_cached: a.tokens_cached + b.tokens_cached,
    micro_money: a.micro_money + b.micro_money,
    unpriced: a.unpriced + b.unpriced,
    repeated: a.repeated + b.repeated,
  };
}

function keysOf(by: readonly CostKey[], { of, model, at }: Used | Repeated): CostRow['keys'] {
  const all: Readonly<Record<CostKey, string | null>> = {
    agent: of?.agent ?? null,
    day: new Date(at).toISOString().slice(0, 'YYYY-MM-DD'.length),
    node: of?.tree == null || of.node === null ? null : `${of.tree}/${of.node}`,
    task: of === undefined ? null : taskOf(of),
    model,
  };
  return by.map((key) => all[key]);
}

/** The task of a project that an owner works at; the result, of one that works at no task of the plan. */
function taskOf({ project, task, result }: Owner): string | null {
  if (project === null) return null;
  if (task !== null) return `${project}/${task}`;
  return result === null ? null : `${project}/result ${result}`;
}

function compareKeys(a: CostRow['keys'], b: CostRow['keys']): number {
  for (const [i, one] of a.entries()) {
    const other = b[i] ?? null;
    if (one === other) continue;
    if (one === null || other === null) return one === null ? 1 : -1;
    return one < other ? -1 : 1;
  }
  return 0;
}

function notesOn({ unpriced, repeated, calls }: CostSums): string[] {
  const notes: string[] = [];
  if (unpriced > 0) notes.push(`${unpriced} of ${calls} model calls state no price: the sum of money leaves them out.`);
  if (repeated > 0)
    notes.push(
      `${repeated === 1 ? '1 model call was' : `${repeated} model calls were`} started again: what the attempt before used stands in no receipt.`,
    );
  return notes;
}
