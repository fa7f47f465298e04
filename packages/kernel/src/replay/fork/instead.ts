/**
 * Outcomes that a dry fork gets in place of those that its original got: an answer of a person, a result of a tool that could
 * have been another one. They are recorded as given by the operator, so that nobody takes them for what happened.
 */
import { present, type Receipt, type ReceiptStatus, RepriseError, type Value } from '@reprise/contracts';
import type { App } from '../../pure/define/index.js';
import { check } from '../../pure/schema/index.js';
import type { RecordedReceipt } from './recorded-receipts.js';

/** An outcome that an effect could have had. */
export interface OtherOutcome {
  readonly status: ReceiptStatus;
  /** The failure code of an outcome that is not `ok`. */
  readonly code?: Receipt['code'];
  /** The payload of an outcome that is `ok`: it fits the receipt schema of the effect. */
  readonly payload?: Value;
  /** The contents that the payload links. */
  readonly contents?: readonly Uint8Array[];
}

/** The adapter that receipts name whose outcome was put in place of the recorded one. */
export const INSTEAD = 'fork';

/** Other outcomes by the ids of effects in the original. */
export class OtherOutcomes {
  readonly #used = new Set<string>();

  constructor(
    private readonly outcomes: Readonly<Record<string, OtherOutcome>>,
    private readonly app: App,
  ) {}

  /** The contents that the payloads link. */
  get contents(): readonly Uint8Array[] {
    return Object.values(this.outcomes).flatMap(({ contents = [] }) => contents);
  }

  /**
   * The receipt that the fork gets for an effect.
   *
   * @param name the kind of the effect
   * @throws RepriseError `invalid_argument` when the payload does not fit the effect
   */
  receiptOf(effect: string, name: string, recorded: Receipt): Receipt {
    const outcome = this.outcomes[effect];
    if (outcome === undefined) return recorded;
    this.#used.add(effect);
    const { status, code, payload } = outcome;
    if (status === 'ok') this.#requireFit(effect, name, payload ?? null);
    // Whom the call asked stays as it was: another answer is one of the same call.
    const { asked, attempts } = recorded;
    const more = present({ asked, code, payload: status === 'ok' ? (payload ?? null) : undefined });
    return { adapter: INSTEAD, by: 'operator', status, ...more, attempts };
  }

  /** The recorded receipts, with those of other outcomes in their places. */
  among(recorded: readonly RecordedReceipt[]): RecordedReceipt[] {
    return recorded.map((one) => {
      if (one.inside && one.effect in this.outcomes) throw this.#refused(one.effect, SETTLED_INSIDE);
      return { ...one, receipt: this.receiptOf(one.effect, one.name, one.receipt) };
    });
  }

  /** @throws RepriseError `invalid_argument` for an effect that the original did not settle after the cut */
  requireUsed(): void {
    for (const effect of Object.keys(this.outcomes)) if (!this.#used.has(effect)) throw this.#refused(effect, UNKNOWN);
  }

  #requireFit(effect: string, name: string, payload: Value): void {
    const definition = this.app.effects.get(name);
    const checked = definition === undefined ? undefined : check(definition.receipt, payload as never);
    if (checked?.ok !== false) return;
    throw new RepriseError('invalid_argument', `the payload does not fit the receipt of ${name}`, {
      where: `instead.${effect}.payload${checked.path === '' ? '' : `.${checked.path}`}`,
      expected: checked.expected,
      actual: checked.actual,
    });
  }

  #refused(effect: string, [message, hint]: readonly [string, string]): RepriseError {
    return new RepriseError('invalid_argument', message, {
      where: `instead.${effect}`,
      expected: 'the id of an effect that the original settled after the cut',
      actual: effect,
      hint,
    });
  }
}

const UNKNOWN = [
  'no effect was settled after the cut under this id',
  'Fork at a frame before the one that settled it: `reprise show WORLD EFFECT` names the frame.',
] as const;

const SETTLED_INSIDE = [
  'the world itself settled this effect',
  'Its plans and cells settle it in the fork as well: give another outcome to what they were told.',
] as const;
