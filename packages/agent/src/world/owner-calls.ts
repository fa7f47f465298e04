/** Passes the calls of programs to the owner of their session, and waits for the answers. */
import { type Address, RepriseError, type Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { World } from '@reprise/kernel';
import type { ownerAnswered } from '../contracts/owner.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import { turnCallRequestId } from '../session/request-id.js';
import { check } from '../tools/schema/schema.js';
import type { OwnerAnswered } from '../tools/tool/context.js';
import type { OwnerCaller } from '../tools/tool/handler-context.js';
import type { Build } from '../tools/toolset/build.js';

type Call = Parameters<OwnerCaller>[0];

/**
 * Makes what passes the calls of handlers to owners.
 *
 * @param opened the kernel's world, once it is open
 */
export function ownerCaller(opened: Promise<World>, build: Build): OwnerCaller {
  return async (call) => {
    const world = await opened;
    const { session, effect, call_id, name, withinMs, signal } = call;
    const cell: Address = [SESSION_REDUCER, session.key];
    const args = await keptArgs(world, build, call);
    const { seq } = await world.request(
      cell,
      { name: 'aos.agent/OwnerCalled@1', value: { call_id, name, args } },
      { id: turnCallRequestId(effect, call_id), as: `adapter:${effect}` },
    );
    const limits = withinMs === undefined ? [signal] : [signal, AbortSignal.timeout(withinMs)];
    return answerFrom(world, seq, cell, call_id, AbortSignal.any(limits));
  };
}

/**
 * The arguments as the owner is given them: checked and made by the tool that was offered, else by the first with that
 * name, where this build has one.
 */
async function keptArgs(
  { content }: World,
  build: Build,
  { session, name, args, tool: offered }: Call,
): Promise<Value> {
  const tool = offered ?? build.tools(name).find(({ entry }) => entry.kind === 'owner');
  if (tool?.operation === undefined) return args;
  const fits = await check(tool.args, args);
  if (!fits.ok) {
    throw new RepriseError('invalid_value', `invalid arguments for the owner tool "${name}"`, {
      where: 'args',
      actual: fits.problems,
    });
  }
  const made = await tool.operation(fits.value as never, content, session);
  return made.op === 'owner' ? made.args : args;
}

/** Reads the journal from the frame of the call on, until it has the answer. */
async function answerFrom(
  world: World,
  from: number,
  cell: Address,
  call_id: string,
  signal: AbortSignal,
): Promise<OwnerAnswered | 'pending'> {
  for await (const { records } of world.frames(from, signal, [cell])) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== 'aos.agent/OwnerAnswered@1') continue;
      if (record.from?.[0] !== cell[0] || record.from[1] !== cell[1]) continue;
      const answered = record.value as unknown as z.infer<typeof ownerAnswered>;
      if (answered.call_id !== call_id) continue;
      const { value, refs, is_error: isError } = answered;
      return { value, refs, isError };
    }
  }
  return 'pending';
}
