/**
 * Makes receipts of outcomes. Adapters are outside code: whatever an adapter returns, the receipt is one that the
 * journal can hold and read back.
 */
import { type Receipt, receipt as receiptSchema, type Value } from '@reprise/contracts';
import type { AnyAdapter } from '../../ports/adapter/adapter.js';
import type { LinkCheck } from '../../ports/content/links.js';
import type { Scrubber } from '../../ports/scrub/index.js';
import { after, type MaybePromise } from '../../ports/time/maybe-promise.js';
import { normalValue } from '../../pure/codec/index.js';
import { type EffectLeaf, VALUE_BYTES_MAX } from '../../pure/engine/index.js';
import { fittedForm } from '../../pure/schema/fitted-form.js';
import { check, compileSchema, type SchemaNode } from '../../pure/schema/index.js';

/** A receipt without its adapter and attempt. */
type Said = Omit<Receipt, 'adapter' | 'attempts'>;

const NO_PAYLOAD: Partial<Said> = {};

/** The collaborators of this module. */
interface ReceiptParts {
  readonly links: LinkCheck;
  readonly scrubber: Scrubber;
}

/** The adapter returned no valid outcome: unless the effect may happen twice, it is unknown whether it happened. */
function badOutcome({ guarantee }: EffectLeaf): Said {
  const code = 'adapter_error/bad_outcome';
  return guarantee === 'idempotent' ? { status: 'error', code, retryable: false } : { status: 'outcome_unknown', code };
}

let shape: SchemaNode | undefined;

/** The shape of a receipt without its adapter and attempt. */
function saidShape(): SchemaNode {
  if (shape !== undefined) return shape;
  const whole = compileSchema(receiptSchema) as Extract<SchemaNode, { type: 'object' }>;
  const { adapter: _adapter, attempts: _attempts, ...fields } = whole.fields;
  shape = { type: 'object', fields };
  return shape;
}

/**
 * Makes the receipt of an outcome. A payload that breaks its schema or links missing content becomes an error as data.
 * An invalid outcome means a failed adapter for an idempotent effect, and an unknown outcome for any other.
 *
 * @param leaf the effect, with its current attempt
 * @param outcome the adapter's return value, unchecked
 * @throws the error of the content store when it cannot tell whether linked content exists
 */
export function receiptOf(
  adapter: AnyAdapter,
  leaf: EffectLeaf,
  outcome: unknown,
  parts: ReceiptParts,
): MaybePromise<Receipt> {
  const said = saidBy(outcome) ?? badOutcome(leaf);
  const payload = said.status === 'ok' ? payloadOf(adapter, outcome, parts) : NO_PAYLOAD;
  return after(payload, (found) => ({ adapter: adapter.name, attempts: leaf.attempt, ...said, ...found }));
}

/** Everything of an outcome but its payload; undefined when the outcome is invalid. */
function saidBy(outcome: unknown): Said | undefined {
  try {
    const { status, code, retryable, usage } = outcome as Readonly<Record<string, unknown>>;
    if (status === 'ok' && usage === undefined) return { status };
    if (status === 'denied' || (status === 'error' && code === undefined)) return undefined;
    const said: Record<string, unknown> = { status, usage };
    if (status === 'error') Object.assign(said, { code, retryable });
    if (status === 'timeout') said.code = code ?? 'adapter_timeout';
    const fitted = fittedForm(saidShape(), said, VALUE_BYTES_MAX);
    if (fitted !== undefined) return fitted.value as unknown as Said;
    const given = normalValue(said).value; // leaves out undefined fields
    return check(saidShape(), given).ok ? (given as unknown as Said) : undefined;
  } catch {
    return undefined;
  }
}

/** What the payload of an outcome makes of its receipt. */
function payloadOf(adapter: AnyAdapter, outcome: unknown, { links, scrubber }: ReceiptParts): MaybePromise<Said> {
  const schema = adapter.effect.receipt;
  let payload: Value;
  let fits = false;
  try {
    const given = (outcome as { readonly payload?: unknown }).payload;
    const fitted = fittedForm(schema, given, VALUE_BYTES_MAX);
    const { value, bytes } = fitted ?? normalValue(given);
    if (bytes > VALUE_BYTES_MAX) return { status: 'error', code: 'validation_error/too_large' };
    payload = scrubber.value(value); // scrubbing never makes a text longer
    fits = fitted !== undefined && payload === value; // without its secrets it may not fit any more
  } catch {
    return { status: 'error', code: 'validation_error/not_canonical' };
  }
  const checked = fits ? { ok: true as const, value: payload } : check(schema, payload);
  if (!checked.ok) return { status: 'error', code: 'validation_error' };
  return after(links.firstBad(checked.value), (bad) =>
    bad === undefined
      ? { status: 'ok', payload: checked.value }
      : { status: 'error', code: `validation_error/${bad.why}` },
  );
}
