/** Checks of an adapter's answer that need no knowledge of the adapter: whether a receipt can be made of it. */
import { type Receipt, type Ref, receipt as receiptSchema, type Value } from '@reprise/contracts';
import { type AdapterOutcome, type ContentStore, type Deferred, decode, encode, linksOf } from '@reprise/kernel';
import { isPattern } from '@reprise/kernel/authority';
import { checkedValue } from '../given/checked-value.js';
import { show } from '../given/compare.js';
import { expectThat } from '../suite/expect.js';

/** Fails unless an answer is an outcome or a deferral with known fields, of the types that receipts have. */
export function expectOutcome(answer: unknown, what: string): asserts answer is AdapterOutcome | Deferred {
  expectThat(typeof answer === 'object' && answer !== null, `${what}: ${show(answer)} is not an outcome`);
  const { status, payload: _, ...rest } = answer as Readonly<Record<string, unknown>>;
  if (status === 'deferred') return expectDeferral(rest, what);
  expectThat(status !== 'denied', `${what}: only the gate may answer "denied"`);
  expectThat(status !== 'error' || rest.code !== undefined, `${what}: an error without a code`);
  const said = Object.fromEntries(Object.entries(rest).filter(([, field]) => field !== undefined));
  const parsed = receiptSchema.safeParse({ adapter: '', attempts: 1, status, ...said });
  const problem = parsed.success
    ? ''
    : parsed.error.issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  expectThat(parsed.success, `${what}: ${show(answer)} does not fit a receipt: ${problem}`);
}

function expectDeferral({ expires, to }: Partial<Record<keyof Receipt | 'expires' | 'to', unknown>>, what: string) {
  const isTime = expires === undefined || (Number.isSafeInteger(expires) && Number(expires) >= 0);
  expectThat(isTime, `${what}: deferred until ${show(expires)}, which is not a time`);
  expectThat(to === undefined || (typeof to === 'string' && isPattern(to)), `${what}: deferred to ${show(to)}`);
}

/** A value in its canonical form. Fails when it has none: `undefined`, NaN, an instance of a class. */
export function canonical(value: unknown, what: string): Value {
  try {
    return decode(encode(value));
  } catch (error) {
    throw new Error(`${what} is not canonical: ${(error as Error).message}`);
  }
}

/** Fails unless a payload is canonical and passes its schema. */
export function expectFits(payload: unknown, node: Parameters<typeof checkedValue>[1], what: string): void {
  checkedValue(what, node, canonical(payload, what));
}

/** Fails unless everything that a value links can be read, through linked values as well. */
export async function expectReadable(value: Value, content: ContentStore, what: string): Promise<void> {
  for (const ref of linksOf(value)) {
    const bytes = await content.get(ref);
    expectThat(bytes !== undefined, `${what}: ${ref} is linked and was never stored`);
    if (ref.kind === 'value') await expectReadable(valueBehind(ref, bytes, what), content, what);
  }
}

function valueBehind(ref: Ref, bytes: Uint8Array, what: string): Value {
  try {
    return decode(bytes);
  } catch {
    throw new Error(`${what}: ${ref} is linked as a value, but its bytes are not an encoded value`);
  }
}
