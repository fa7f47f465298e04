/**
 * What effects used, with who used it, from the records of a world.
 *
 * Invariants
 * UF1  The usage of an effect is given out once, with its owner: the first that its receipt, its settlement or a late
 *      outcome states. Of late settlements only one counts that the accounts book: of an effect whose usage is owed.
 * UF2  A model call that was started counts once, when it ends.
 */
import type { Address, JournalRecord, Receipt, Usage } from '@reprise/contracts';
import type { SnapshotLeaves } from '@reprise/kernel/inspect';
import type { Owner } from '../names/owner.js';
import { EFFECTS } from '../names/reducers.js';
import { fieldOf } from '../names/values.js';
import { WorldNames } from '../names/world-names.js';

/** What one effect used, as its receipt states it. */
export interface Used {
  readonly kind: 'used';
  readonly at: number;
  readonly of: Owner | undefined;
  readonly isModelCall: boolean;
  /** It came after the end of the effect, which was counted then. */
  readonly isLate: boolean;
  /** The model that answered, as its client names it; null where nothing states it. */
  readonly model: string | null;
  readonly usage: Usage;
  readonly isOk: boolean;
}

/** An interrupted attempt of a model call: what it used stands nowhere. */
export interface Repeated {
  readonly kind: 'repeated';
  /** When the next attempt was started. */
  readonly at: number;
  readonly of: Owner | undefined;
  /** The model that answered in the end; null where nothing states it. */
  readonly model: string | null;
}

interface Known {
  readonly name: string;
  readonly cell: Address;
  /** The armed attempt; 0 while none was started. */
  attempt: number;
  /** It waited for input from outside: a late settlement of it gets an answer. */
  waited: boolean;
  /** Another system finishes it: no adapter is at work. */
  deferred: boolean;
  /** It ended and stated no usage: its adapter may still report it, or a settlement that comes late. */
  ended?: 'unanswered' | 'owed';
  /** When it was started again. */
  readonly repeats: number[];
}

type Given = Used | Repeated;

/** Follows effects and gives out what they used. Memory is bounded by open effects, those that wait for a report, sessions and agents. */
export class UsageFold {
  readonly #names = new WorldNames();
  readonly #known = new Map<string, Known>();
  #isWhole = true;
  #lacks = false;

  /** A late usage is of an effect that ended before the snapshot: only the whole journal says whose it is, and whether it counts. */
  get lacksFrames(): boolean {
    return this.#lacks;
  }

  /** Takes what a snapshot holds. */
  async load(snapshot: SnapshotLeaves): Promise<void> {
    await this.#names.load(snapshot);
    this.#isWhole = snapshot.seq < 0;
    for (const [effect, leaf] of [...snapshot.effects, ...snapshot.late]) {
      const { name, plan, attempt, approval, approved, deferred, late } = leaf;
      // A settlement from outside may have stated a usage.
      if (late !== undefined && (late.status === 'ok' || late.status === 'error')) continue;
      const waited = approval !== undefined || approved !== undefined || deferred !== undefined;
      const ended = late === undefined ? {} : { ended: 'unanswered' as const };
      const cell: Address = [plan[0], plan[1]];
      this.#known.set(effect, {
        ...{ name, cell, attempt, waited, deferred: deferred !== undefined, repeats: [] },
        ...ended,
      });
    }
  }

  /** Takes the records of the next frame. @returns what they state of uses */
  take(at: number, records: readonly JournalRecord[]): Given[] {
    const late = new Set(records.flatMap((record) => (record.kind === 'late' ? [record.effect] : [])));
    const settled = new Map<string, Usage>();
    const given: Given[] = [];
    for (const [i, record] of records.entries()) {
      this.#names.take(record);
      switch (record.kind) {
        case 'effect': {
          const { effect, name, plan, approval } = record;
          const waited = approval !== undefined;
          this.#known.set(effect, { name, cell: [plan[0], plan[1]], attempt: 0, waited, deferred: false, repeats: [] });
          break;
        }
        case 'attempt':
          this.#attempt(record.effect, record.attempt, at);
          break;
        case 'deferred': {
          const known = this.#known.get(record.effect);
          if (known !== undefined) [known.waited, known.deferred] = [true, true];
          break;
        }
        case 'settled':
          given.push(...this.#settled(record, settled.get(record.effect), at));
          break;
        case 'receipt':
          given.push(...this.#receipt(record, late.has(record.effect), at));
          break;
        case 'command':
        case 'cell_command': {
          if (record.command.name !== 'sys/Settle@1' || records[i + 1]?.kind === 'denial') break;
          const { effect, outcome } = record.command.value;
          if (outcome.usage === undefined) break;
          const known = this.#known.get(effect);
          const isLate = known === undefined ? late.has(effect) : known.ended !== undefined;
          if (!isLate) settled.set(effect, outcome.usage);
          else if (this.#counts(known, 'owed'))
            given.push(...this.#used(effect, { at, usage: outcome.usage, isOk: outcome.status === 'ok', isLate }));
          break;
        }
        default:
      }
    }
    return given;
  }

  /** The interrupted attempts of model calls that have not ended. */
  rest(): Given[] {
    return [...this.#known.keys()].flatMap((effect) => this.#repeatsOf(effect, null));
  }

  #attempt(effect: string, attempt: number, at: number): void {
    const known = this.#known.get(effect);
    if (known === undefined) return;
    if (known.attempt > 0 && known.name === EFFECTS.model) known.repeats.push(at);
    known.attempt = attempt;
  }

  #settled(
    { effect, status, by }: Extract<JournalRecord, { readonly kind: 'settled' }>,
    usage: Usage | undefined,
    at: number,
  ): Given[] {
    const known = this.#known.get(effect);
    const isUnderWay = known !== undefined && known.attempt > 0 && !known.deferred && by !== 'gate';
    const isCounted = usage !== undefined || (known?.attempt ?? 0) > 0;
    const given = isCounted ? this.#used(effect, { at, usage: usage ?? {}, isOk: status === 'ok', isLate: false }) : [];
    return [...given, ...this.#end(effect, usage, isUnderWay)];
  }

  #receipt(
    { effect, receipt, unanswered }: Extract<JournalRecord, { readonly kind: 'receipt' }>,
    isLate: boolean,
    at: number,
  ): Given[] {
    const { usage = {}, status } = receipt;
    const use = { at, usage, isOk: status === 'ok', isLate, model: modelIn(receipt) };
    if (!isLate) return [...this.#used(effect, use), ...this.#end(effect, receipt.usage, unanswered === true)];
    const known = this.#known.get(effect);
    const given = receipt.usage !== undefined && this.#counts(known, 'unanswered') ? this.#used(effect, use) : [];
    return [...given, ...this.#forget(effect)];
  }

  /** Whether a late usage counts; one of an effect from before the snapshot cannot be judged. */
  #counts(known: Known | undefined, ended: Known['ended']): boolean {
    if (known === undefined && !this.#isWhole) this.#lacks = true;
    return known !== undefined && known.ended === ended;
  }

  #end(effect: string, usage: Usage | undefined, isUnanswered: boolean): Given[] {
    const known = this.#known.get(effect);
    if (known === undefined) return [];
    if (usage !== undefined || !(isUnanswered || known.waited)) return this.#forget(effect);
    known.ended = isUnanswered ? 'unanswered' : 'owed';
    return [];
  }

  #used(
    effect: string,
    use: Pick<Used, 'at' | 'usage' | 'isOk' | 'isLate'> & { readonly model?: string | null },
  ): Given[] {
    const known = this.#known.get(effect);
    const { model = null } = use;
    const used: Used = { kind: 'used', of: this.#ownerOf(known), isModelCall: isModel(known), ...use, model };
    const repeats = model === null ? [] : this.#repeatsOf(effect, model);
    if (use.isLate) return [used, ...repeats, ...this.#forget(effect)];
    return [used, ...repeats];
  }

  #repeatsOf(effect: string, model: string | null): Given[] {
    const known = this.#known.get(effect);
    const of = this.#ownerOf(known);
    return known?.repeats.splice(0).map((at) => ({ kind: 'repeated', at, of, model })) ?? [];
  }

  #ownerOf(known: Known | undefined): Owner | undefined {
    return known && this.#names.ownerOf(known.cell);
  }

  #forget(effect: string): Given[] {
    const repeats = this.#repeatsOf(effect, null);
    this.#known.delete(effect);
    return repeats;
  }
}

function isModel(known: Known | undefined): boolean {
  return known?.name === EFFECTS.model;
}

/** The model that was asked: receipts of older builds say it in their payload alone. */
function modelIn({ asked, payload }: Receipt): string | null {
  if (asked !== undefined) return asked.model;
  const model = fieldOf(fieldOf(payload, 'by'), 'model');
  return typeof model === 'string' ? model : null;
}
