/**
 * Rights of the sessions of an entity. A cell without rights of its own has what its maker may hand on, which can be more
 * than what the maker may use: so each session has the rights that the entity uses, without stores, which the entity
 * reaches itself. They follow each change of the entity's rights.
 */

import { type OwnerCall, SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Address, Capability } from '@reprise/contracts';
import { meet } from '@reprise/kernel/authority';
import { byteLength } from '@reprise/kernel/codec';
import { allRows, type ReducerContext } from '@reprise/kernel/define';
import { waitingCallOf } from '@reprise/org/contracts';
import type { CallOrigin } from '../../contracts/entity/entity.js';
import type { Row } from '../../contracts/entity-parts.js';
import { type EntityContext, idOf, type MakerContext } from '../context/entity.js';
import { recorded } from './recorded.js';

export function sessionKey(entity: string, name: string): string {
  return `${entity}/${name}`;
}

/** Whether the key of a session is one of an entity. */
export function isSessionOf(entity: string, session: string): boolean {
  return session.startsWith(`${entity}/`) && byteLength(session) <= KEY_BYTES_MAX;
}

/** The bytes of the key of a cell, which a session has. */
const KEY_BYTES_MAX = 256;

export function sessionAt(name: string, ctx: EntityContext): Address {
  return [SESSION_REDUCER, sessionKey(idOf(ctx), name)];
}

/** The rights of a session of an entity that may use this much. */
export function sessionRights(exercise: Capability): ReturnType<typeof recorded> {
  return recorded(meet(exercise, { may: { mem_read: [], mem_write: [] } }));
}

/** Gives all open sessions the rights that follow from what the entity may use now. */
export function followInSessions(exercise: Capability, ctx: EntityContext): void {
  const rights = sessionRights(exercise);
  for (const [name, { open }] of allRows(ctx.table('sessions'))) {
    const [reducer, key] = sessionAt(name, ctx);
    if (open) ctx.command('sys/SetRights@1', { holder: `cell:${reducer}/${key}`, exercise: rights, excess: 'cut' });
  }
}

export function commandSession(type: 'Pause' | 'Resume' | 'Close', session: string, ctx: MakerContext): void {
  const command_id = ctx.id(`${type} ${session} ${ctx.now}`);
  ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/HostCommand@1', value: { command_id, command: { type } } });
}

/**
 * The origin of a model's call.
 *
 * @param row that of the session which sends it; null for a job
 */
export function ownerOrigin(
  { session, call_id, step_epoch }: OwnerCall,
  row: Row<'sessions'> | null | undefined,
  ctx: Pick<ReducerContext, 'address' | 'caller' | 'rowKey' | 'reject'>,
): CallOrigin {
  const { address, rowKey, reject } = ctx;
  if (rowKey === null) return reject('not_yours');
  // A job speaks for its session; a session only for itself.
  if (row !== null && session !== sessionKey(address[1], rowKey)) return reject('not_yours');
  return { kind: 'owner', ...waitingCallOf({ session, call_id, step_epoch }, ctx) };
}
