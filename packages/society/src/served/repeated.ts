/**
 * Calls that are sent again. A text that is stored again has another link, so that a repetition of a call with texts is
 * another request: it is compared with the first by what its links stand for.
 */
import { isRepriseError, Ref, type Value } from '@reprise/contracts';
import { encode, equalBytes, getErasable, type World } from '@reprise/kernel';

/** The arguments of an earlier call under the same id. */
interface EarlierCall {
  readonly seq: number;
  readonly args: Value;
}

/** Finds the earlier call that a refusal of the kernel names; undefined for another refusal. */
export async function earlierCall(world: World, error: unknown): Promise<EarlierCall | undefined> {
  if (!isRepriseError(error, 'request_conflict')) return undefined;
  const seq = Number(/^frame (\d+)$/.exec(String(error.details.where))?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(seq)) return undefined;
  for await (const { records } of world.frames(seq)) {
    const asked = records.find((record) => record.kind === 'request');
    if (asked?.kind !== 'request') return undefined;
    return { seq, args: (asked.event.value as { readonly args: Value }).args };
  }
  return undefined;
}

/** Whether two arguments say the same: links count as what they stand for. */
export async function sameArgs(world: World, a: Value, b: Value): Promise<boolean> {
  const [one, other] = await Promise.all([resolved(world, a), resolved(world, b)]);
  return equalBytes(encode(one), encode(other));
}

async function resolved(world: World, value: Value): Promise<Value> {
  if (value instanceof Ref) return textOf(world, value);
  if (Array.isArray(value)) return Promise.all(value.map((part) => resolved(world, part)));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const parts = Object.entries(value).map(async ([key, part]) => [key, await resolved(world, part as Value)] as const);
  return Object.fromEntries(await Promise.all(parts));
}

/** Content that was erased since then is nobody's text any more: it equals nothing. */
async function textOf(world: World, ref: Ref): Promise<Value> {
  try {
    return new TextDecoder().decode(await getErasable(world.content, ref));
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return { erased: ref.hex };
    throw error;
  }
}
