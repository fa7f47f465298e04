/**
 * What effects used, with who used it, from the records of a world.
 *
 * Invariants
 * UF1  Each amount that a receipt or a settlement states is given out once, with its owner.
 */
import type { Address, JournalRecord, Receipt, Usage } from '@reprise/contracts';
import type { SnapshotLeaves } from '@reprise/kernel/inspect';
import type { Owner } from '../names/owner.js';
import { EFFECTS } from '../names/reducers.js';
import { fieldOf } from '../names/values.js';
import { WorldNames } from '../names/world-names.js';

/** What one effect used, as its receipt states it. */
export interface Used {
  readonly of: Owner | undefined;
  readonly isModelCall: boolean;
  /** The model that answered, as its client names it; null where nothing states it. */
  readonly model: string | null;
  readonly usage: Usage;
  readonly isOk: boolean;
}

interface Known {
  readonly name: string;
  readonly cell: Address;
}

/** Follows effects and gives out what they used. Memory is bounded by open effects, sessions and agents. */
export class UsageFold {
  readonly #names = new WorldNames();
  readonly #known = new Map<string, Known>();
  /** The armed attempts of open effects. */
  readonly #attempts = new Map<string, number>();

  /** Takes what a snapshot holds. */
  async load(snapshot: SnapshotLeaves): Promise<void> {
    await this.#names.load(snapshot);
    for (const [effect, { name, plan, attempt }] of [...snapshot.effects, ...snapshot.late]) {
      this.#known.set(effect, { name, cell: [plan[0], plan[1]] });
      this.#attempts.set(effect, attempt);
    }
  }

  /** Takes a record. @returns what it states of a use; undefined when it states none */
  take(record: JournalRecord): Used | 'repeated' | undefined {
    this.#names.take(record);
    switch (record.kind) {
      case 'effect':
        this.#known.set(record.effect, { name: record.name, cell: [record.plan[0], record.plan[1]] });
        return undefined;
      case 'attempt':
        return this.#attempt(record.effect, record.attempt);
      case 'settled':
        // One that was started may still report what it used.
        if ((this.#attempts.get(record.effect) ?? 0) === 0) this.#forget(record.effect);
        return undefined;
      case 'receipt': {
        const { effect, receipt, unanswered } = record;
        const used = this.#used(effect, receipt.usage, receipt.status === 'ok', modelIn(receipt));
        if (unanswered !== true) this.#forget(effect);
        return used;
      }
      case 'command':
      case 'cell_command': {
        if (record.command.name !== 'sys/Settle@1') return undefined;
        const { effect, outcome } = record.command.value;
        return outcome.usage && this.#used(effect, outcome.usage, outcome.status === 'ok', null);
      }
      default:
        return undefined;
    }
  }

  /** Whose cell it is that emitted an effect. */
  ownerOf(effect: string): Owner | undefined {
    const known = this.#known.get(effect);
    return known && this.#names.ownerOf(known.cell);
  }

  #attempt(effect: string, attempt: number): 'repeated' | undefined {
    const isAgain = (this.#attempts.get(effect) ?? 0) > 0;
    this.#attempts.set(effect, attempt);
    return isAgain && this.#known.get(effect)?.name === EFFECTS.model ? 'repeated' : undefined;
  }

  #used(effect: string, usage: Usage = {}, isOk: boolean, model: string | null): Used {
    const isModelCall = this.#known.get(effect)?.name === EFFECTS.model;
    return { of: this.ownerOf(effect), isModelCall, model, usage, isOk };
  }

  #forget(effect: string): void {
    this.#known.delete(effect);
    this.#attempts.delete(effect);
  }
}

/** The model that was asked: receipts of older builds say it in their payload alone. */
function modelIn({ asked, payload }: Receipt): string | null {
  if (asked !== undefined) return asked.model;
  const model = fieldOf(fieldOf(payload, 'by'), 'model');
  return typeof model === 'string' ? model : null;
}
