/**
 * Calls that are sent again. A text that is stored again has another link, so that a repetition of a call with texts is
 * another request for the kernel: it is compared with the first by what its links stand for.
 */
import {
  type Actor,
  type Address,
  isRepriseError,
  type Principal,
  present,
  type Ref,
  type RepriseError,
  type Value,
} from '@reprise/contracts';
import { type Ack, encode, equalBytes, getErasable, type World } from '@reprise/kernel';
import { type CommandOutcome, command, factIn, outcomeOf, unlessErased } from '@reprise/org';
import { entityFacts, saltedLinksAs } from '../pure/index.js';
import { type Answered, entityCell } from './requests.js';

/** A call of a tool, in the form of the cell that it is sent to. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: Value;
  readonly as?: Principal | undefined;
  readonly actor?: Actor | undefined;
  /** The id is made of what the call says: an earlier call under it is this one, also when its texts were erased since. */
  readonly isOfId?: boolean | undefined;
}

/**
 * Calls a tool, once for each id, however often it is sent: a repetition has the answer of the first, and its frame.
 *
 * @throws RepriseError `request_conflict` for an id under which another call was sent; the refusals of the kernel
 */
export async function answerOnce(
  kernel: World,
  at: Address,
  { id, name, args, as, actor, isOfId = false }: Call,
): Promise<Answered & { readonly seq: number }> {
  const cell = entityCell(kernel, at);
  const find: CommandOutcome<Answered>['in'] = (fact) => {
    const answer = factIn(fact, [entityFacts, 'society/Answered@1']);
    return answer?.call_id === id ? answer : undefined;
  };
  const answered = async ({ seq }: Pick<Ack, 'seq'>) => ({ ...(await outcomeOf(cell, { seq }, { in: find })), seq });
  try {
    const call = { call_id: id, name, args };
    return await answered(await command(cell, 'society/Call@1', call, present({ id, as, actor })));
  } catch (error) {
    if (!isRepriseError(error, 'request_conflict')) throw error;
    const earlier = await earlierCall(kernel, error, id);
    // The frame that it was refused for is lost with the world: then nobody knows of another call.
    if (earlier === undefined) throw kernel.closedBy ?? error;
    if (earlier.name !== name) throw error;
    if (!isOfId && !(await sameArgs(kernel, name, [earlier.args, args]))) throw error;
    return answered(earlier);
  }
}

interface EarlierCall {
  readonly seq: number;
  readonly name: string;
  readonly args: Value;
}

/** Finds the earlier call of an id that a refusal of the kernel names; undefined when its frame is not there. */
async function earlierCall(world: World, error: RepriseError, id: string): Promise<EarlierCall | undefined> {
  const seq = Number(/^frame (\d+)$/.exec(String(error.details.where))?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(seq)) return undefined;
  for await (const { records } of world.frames(seq)) {
    const asked = records.find((record) => record.kind === 'request');
    if (asked?.kind !== 'request') return undefined;
    const { call_id, ...call } = asked.event.value as unknown as Omit<EarlierCall, 'seq'> & {
      readonly call_id: string;
    };
    return call_id === id ? { seq, ...call } : undefined;
  }
  return undefined;
}

/** Whether two arguments of a tool say the same: links to content with a salt count as what they stand for. */
async function sameArgs(world: World, tool: string, both: readonly [Value, Value]): Promise<boolean> {
  const [one, other] = await Promise.all(both.map((args) => resolved(world, tool, args)));
  return equalBytes(encode(one as Value), encode(other as Value));
}

async function resolved(world: World, tool: string, args: Value): Promise<Value> {
  const links: Ref[] = [];
  saltedLinksAs((link) => links.push(link), tool, args);
  const texts = new Map<Ref, Value>();
  for (const link of links) texts.set(link, await textOf(world, link));
  return saltedLinksAs((link) => texts.get(link) ?? null, tool, args);
}

/** Content that was erased since then is nobody's text any more: it equals nothing. */
async function textOf(world: World, ref: Ref): Promise<Value> {
  const bytes = await unlessErased(getErasable(world.content, ref), undefined);
  return bytes === undefined ? { erased: ref.hex } : new TextDecoder().decode(bytes);
}
