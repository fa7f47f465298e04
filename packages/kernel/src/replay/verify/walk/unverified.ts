/**
 * Checks frames that no given app can replay: their shape, and that every receipt belongs to an effect that was emitted
 * and armed. Decisions and states are taken as recorded.
 */
import type { JournalRecord, Ref } from '@reprise/contracts';
import { damaged } from '../../../ports/journal/frame.js';
import { decode } from '../../../pure/codec/index.js';
import type { EffectLeaf } from '../../../pure/engine/index.js';
import type { MerkleMap } from '../../../state/map/index.js';
import { inSnapshot } from '../era/snapshot-map.js';

/** The effects of an unverified era, and how often each was armed. */
export class UnverifiedLedger {
  #armed = new Map<string, number>();

  constructor(private readonly map: MerkleMap) {}

  /** Takes the ledger from the map of a snapshot. */
  async begin(root: Ref): Promise<void> {
    this.#armed = await this.#ledgerOf(root);
  }

  /**
   * Follows a frame.
   *
   * @throws RepriseError `journal_damaged` naming the contradictory record
   */
  async follow(seq: number, records: readonly JournalRecord[]): Promise<void> {
    for (const [i, record] of records.entries()) {
      if (record.kind === 'effect') this.#armed.set(record.effect, 0);
      else if (record.kind === 'attempt') this.#arm(seq, i, record.effect, record.attempt);
      else if (record.kind === 'receipt') this.#answer(seq, i, record.effect, record.attempt);
    }
    const [ingress] = records;
    if (ingress?.kind === 'snapshot') await this.#compare(seq, ingress.root);
  }

  #arm(seq: number, i: number, effect: string, attempt: number): void {
    const before = this.#armed.get(effect);
    if (before !== attempt - 1) throw damaged(seq, `attempt ${attempt} at an effect that ${sayArmed(before)}`, i);
    this.#armed.set(effect, attempt);
  }

  #answer(seq: number, i: number, effect: string, attempt: number): void {
    const armed = this.#armed.get(effect);
    if (armed !== attempt)
      throw damaged(seq, `a receipt of attempt ${attempt} for an effect that ${sayArmed(armed)}`, i);
  }

  /** A snapshot lists no effect without a record; from here on its list is the ledger. */
  async #compare(seq: number, root: Ref): Promise<void> {
    const listed = await inSnapshot(seq, this.#ledgerOf(root));
    for (const [effect, attempt] of listed) {
      const armed = this.#armed.get(effect);
      if (armed !== attempt)
        throw damaged(seq, `the snapshot has effect ${effect} at attempt ${attempt}; it ${sayArmed(armed)}`, 0);
    }
    this.#armed = listed;
  }

  async #ledgerOf(root: Ref): Promise<Map<string, number>> {
    const ledger = new Map<string, number>();
    for await (const { key, bytes } of this.map.entries(root, 'effect')) {
      ledger.set(String(key.path[1]), (decode(bytes) as unknown as EffectLeaf).attempt);
    }
    return ledger;
  }
}

function sayArmed(attempts: number | undefined): string {
  return attempts === undefined ? 'is not open' : `was armed ${attempts} times`;
}
