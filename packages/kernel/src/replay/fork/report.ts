/** Reports how a dry fork differs from its original. Reads only. */

import {
  type Address,
  type IngressRecord,
  type JournalRecord,
  type Receipt,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import { readFrame } from '../../ports/journal/frame.js';
import { isKeyed, requestKey } from '../../ports/journal/request-key.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { encode, equalBytes, FRAME_DEPTH_MAX, type Hash, portableSha256 } from '../../pure/codec/index.js';
import type { ForkSource } from './fork-world.js';
import { INSTEAD } from './instead.js';
import { RecordedReceipts } from './recorded-receipts.js';

/** An effect of a fork, in a report. */
interface ReportedEffect {
  /** The frame of the fork that emitted it. */
  readonly seq: number;
  readonly effect: string;
  readonly name: string;
  readonly cell: Address;
  readonly params: Value;
}

/** An effect that was settled from outside in the original after the cut, and that the fork does not have. */
interface UnusedReceipt {
  /** The frame of the original that settled it. */
  readonly seq: number;
  /** Its id in the original. */
  readonly effect: string;
  readonly name: string;
  readonly cell: Address;
  readonly receipt: Receipt;
}

/** The first frame with the same input and another result. */
interface Departure {
  /** The frame of the fork. */
  readonly seq: number;
  /** The frame of the original with the same input. */
  readonly original: number;
}

/** What a fork did otherwise than its original after the cut. */
export interface ForkReport {
  readonly from: { readonly world: string; readonly seq: number; readonly head: string };
  readonly mode: 'dry' | 'live';
  /** Effects that equal one of the original and got its receipt. */
  readonly matched: readonly ReportedEffect[];
  /** Effects that the original did not have. They were denied. */
  readonly unmatched: readonly ReportedEffect[];
  /** Effects of the original after the cut that the fork does not have yet. */
  readonly unused: readonly UnusedReceipt[];
  /** Outcomes that effects got in place of those of the original, by their ids there: `instead` of the fork's options. */
  readonly instead: readonly { readonly effect: string; readonly receipt: Receipt }[];
  /** Where it departs from the original; undefined when it does not, or without an original. */
  readonly departure: Departure | undefined;
}

/**
 * Reports how a dry fork differs from its original.
 *
 * @param fork the store of the fork
 * @param original the world it was forked from, to find the first different frame
 * @throws RepriseError `invalid_argument` when the store does not hold a fork
 */
export async function forkReport(fork: ForkSource, original?: ForkSource): Promise<ForkReport> {
  requireReadable(fork, 'forkReport', 'fork');
  if (original !== undefined) requireReadable(original, 'forkReport', 'original');
  const first = await fork.journal.findLast('fork', Number.MAX_SAFE_INTEGER);
  const ingress = first && readFrame(first.bytes, first.seq).ingress;
  if (first === undefined || ingress?.kind !== 'fork')
    throw new RepriseError('invalid_argument', 'this world is not a fork');
  const tally = new Tally();
  const recorded = new RecordedReceipts(fork.content, ingress.recorded);
  const compare = original === undefined ? undefined : new Comparison(original, recorded, ingress.from.seq);
  let departure: Departure | undefined;
  for await (const { seq, bytes } of fork.journal.read(first.seq)) {
    const { all } = readFrame(bytes, seq);
    tally.take(seq, all);
    departure ??= seq === first.seq ? undefined : await compare?.departureOf(seq, all);
  }
  const { matched, unmatched, used } = tally;
  const unused: UnusedReceipt[] = [];
  const instead = ingress.settled.map(([effect, receipt]) => ({ effect, receipt })).filter(isInstead);
  for await (const { effect, seq, name, cell, receipt, inside } of recorded.all()) {
    if (isInstead({ receipt })) instead.push({ effect, receipt });
    if (!inside && !used.has(effect)) unused.push({ seq, effect, name, cell, receipt });
  }
  unused.sort((a, b) => a.seq - b.seq);
  return { from: ingress.from, mode: ingress.mode, matched, unmatched, unused, instead, departure };
}

function isInstead({ receipt }: { readonly receipt: Receipt }): boolean {
  return receipt.adapter === INSTEAD;
}

/** Counts how the effects of a fork were answered. */
class Tally {
  readonly matched: ReportedEffect[] = [];
  readonly unmatched: ReportedEffect[] = [];
  /** Effects of the original whose receipts were used. */
  readonly used = new Set<string>();
  readonly #open = new Map<string, ReportedEffect>();

  take(seq: number, records: readonly JournalRecord[]): void {
    const [ingress] = records;
    if (ingress?.kind === 'receipt') this.#answer(ingress);
    for (const record of records) {
      if (record.kind !== 'effect') continue;
      const { effect, name, plan, params } = record;
      this.#open.set(effect, { seq, effect, name, cell: [plan[0], plan[1]], params });
    }
  }

  #answer({ effect, recorded, receipt }: Extract<JournalRecord, { kind: 'receipt' }>): void {
    const open = this.#open.get(effect);
    if (open === undefined) return;
    this.#open.delete(effect);
    if (recorded !== undefined) this.used.add(recorded);
    if (recorded !== undefined) this.matched.push(open);
    else if (receipt.code === 'policy_denied/fork_dry') this.unmatched.push(open);
  }
}

/** Compares frames of a fork with those of the original that have the same input. */
class Comparison {
  readonly #hash: Hash;

  constructor(
    private readonly original: ForkSource,
    private readonly recorded: RecordedReceipts,
    /** The last frame that both share. */
    private readonly cut: number,
  ) {
    this.#hash = original.hash ?? portableSha256;
  }

  async departureOf(seq: number, records: readonly JournalRecord[]): Promise<Departure | undefined> {
    const same = await this.#sameInput(records[0] as IngressRecord);
    if (same === undefined || same <= this.cut) return undefined;
    for await (const { bytes } of this.original.journal.read(same, same)) {
      const { all } = readFrame(bytes, same);
      if (!equalBytes(derivationOf(all), derivationOf(records))) return { seq, original: same };
    }
    return undefined;
  }

  /** The frame of the original with the same request, or with the same recorded receipt. */
  async #sameInput(ingress: IngressRecord): Promise<number | undefined> {
    if (isKeyed(ingress)) return this.original.journal.findKey(requestKey(ingress, this.#hash));
    if (ingress.kind !== 'receipt' || ingress.recorded === undefined) return undefined;
    return (await this.recorded.find(ingress.recorded))?.seq;
  }
}

/** The consequences of an input, without what differs between any two worlds: the ids of effects, and attempts. */
function derivationOf(records: readonly JournalRecord[]): Uint8Array {
  return encode(records.slice(1).flatMap(told), FRAME_DEPTH_MAX);
}

function told(record: JournalRecord): unknown[] {
  switch (record.kind) {
    case 'event':
      return [[record.kind, record.to, record.event, record.from]];
    case 'fact':
      return [[record.kind, record.from, record.name, record.value]];
    case 'intent':
      return [[record.kind, record.plan, record.name, record.input]];
    case 'effect':
      return [[record.kind, record.plan, record.emission, record.name, record.params]];
    case 'denial':
      return [[record.kind, record.who, record.what, record.code]];
    case 'fault':
      return [[record.kind, record.target, record.code]];
    case 'plan_ended':
      return [[record.kind, record.plan, record.status, record.code]];
    case 'cell_command':
      return [[record.kind, record.from, record.command]];
    case 'state':
      return record.leaves.flatMap(([key, changed]) => (key[0] === 'cell' ? [[key, stateFields(changed)]] : []));
    default:
      return [];
  }
}

/** Changes in a cell's own state, by name: without its timers, which have other times in another world. */
function stateFields(changed: Readonly<Record<string, unknown>> | null): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changed ?? {}).filter(([name]) => name.startsWith('state.')));
}
