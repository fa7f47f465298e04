/**
 * Makes receipts of outcomes. Adapters are outside code: whatever one answers, the receipt is one that the journal
 * can hold and read back.
 */
import { type Receipt, receipt as receiptSchema, type Value } from '@reprise/contracts';
import type { AnyAdapter } from '../../ports/adapter/adapter.js';
import type { LinkCheck } from '../../ports/content/links.js';
import type { Scrubber } from '../../ports/scrub/index.js';
import { decode, encode } from '../../pure/codec/index.js';
import { type EffectLeaf, VALUE_BYTES_MAX } from '../../pure/engine/index.js';
import { check, compileSchema, type SchemaNode } from '../../pure/schema/index.js';

/** What a receipt says besides who made it and at which attempt. */
type Said = Omit<Receipt, 'adapter' | 'attempts'>;

/** What receipts are made with. */
export interface ReceiptParts {
  readonly links: LinkCheck;
  readonly scrubber: Scrubber;
}

/** An answer that is no outcome: of an effect that may not happen twice it is not even known whether it happened. */
function badOutcome({ guarantee }: EffectLeaf): Said {
  const code = 'adapter_error/bad_outcome';
  return guarantee === 'idempotent' ? { status: 'error', code, retryable: false } : { status: 'outcome_unknown', code };
}

let shape: SchemaNode | undefined;

/**
 * The receipt of an outcome. A payload that breaks its schema or links what is not stored is an error as data; an
 * outcome that is none says of an idempotent effect that its adapter failed, of any other that nothing is known.
 *
 * @param leaf the effect, with the attempt that is answered
 * @param outcome what the adapter answered: checked here, so anything
 * @throws what the content store throws when it cannot tell whether linked content is there
 */
export async function receiptOf(
  adapter: AnyAdapter,
  leaf: EffectLeaf,
  outcome: unknown,
  parts: ReceiptParts,
): Promise<Receipt> {
  const said = saidBy(outcome) ?? badOutcome(leaf);
  const payload = said.status === 'ok' ? await payloadOf(adapter, outcome, parts) : {};
  return { adapter: adapter.name, attempts: leaf.attempt, ...said, ...payload };
}

/** All of an outcome but its payload; undefined when it is no outcome. */
function saidBy(outcome: unknown): Said | undefined {
  try {
    const { status, code, retryable, usage } = outcome as Readonly<Record<string, unknown>>;
    if (status === 'denied' || (status === 'error' && code === undefined)) return undefined;
    const said: Record<string, unknown> = { status, usage };
    if (status === 'error') Object.assign(said, { code, retryable });
    if (status === 'timeout') said.code = code ?? 'adapter_timeout';
    shape ??= compileSchema(receiptSchema);
    const given = decode(encode(said)) as Readonly<Record<string, Value>>; // leaves out what is undefined
    return check(shape, { adapter: '', attempts: 0, ...given }).ok ? (given as unknown as Said) : undefined;
  } catch {
    return undefined;
  }
}

async function payloadOf(adapter: AnyAdapter, outcome: unknown, { links, scrubber }: ReceiptParts): Promise<Said> {
  let payload: Value;
  try {
    const bytes = encode((outcome as { readonly payload?: unknown }).payload);
    if (bytes.length > VALUE_BYTES_MAX) return { status: 'error', code: 'validation_error/too_large' };
    payload = scrubber.value(decode(bytes)); // which makes nothing longer
  } catch {
    return { status: 'error', code: 'validation_error/not_canonical' };
  }
  const checked = check(adapter.effect.receipt, payload);
  if (!checked.ok) return { status: 'error', code: 'validation_error' };
  const bad = await links.firstBad(checked.value);
  if (bad !== undefined) return { status: 'error', code: `validation_error/${bad.why}` };
  return { status: 'ok', payload: checked.value };
}
