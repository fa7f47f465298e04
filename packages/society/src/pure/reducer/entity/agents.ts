/** The tools about agents: register, list, change capabilities, change status, deactivate. */

import type { Value } from '@reprise/contracts';
import { byteLength } from '@reprise/kernel/codec';
import type { agentCalls } from '../../contracts/entity/agent-tools.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row, SocietyCallOf } from '../../contracts/entity-parts.js';
import { roomFor } from '../call/answers.js';
import type { Answer, OperationsOf } from '../call/operations.js';
import { timeOf } from '../call/time.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { statusOperations } from '../status/commanded.js';
import { changeCapabilities } from './agent-rights.js';
import { register } from './registration.js';

export const agentOperations: OperationsOf<keyof typeof agentCalls> = {
  agent_register: register,
  agent_list: (_draft, args, call, ctx) => listAgents(args, roomFor(call, ctx), ctx),
  agent_capabilities: changeCapabilities,
  agent_reader_key: registerReaderKey,
  ...statusOperations,
};

/** The key counts for registrations that are taken from now on. */
function registerReaderKey(
  draft: EntityState,
  { public_key }: SocietyCallOf<'agent_reader_key'>,
  _call: string,
  ctx: EntityContext,
): Answer {
  draft.reader_key = public_key;
  return { value: { entity_id: idOf(ctx), public_key } };
}

/** The agents of a page when the call does not say. */
const LIST_ROWS = 100;

/** The rows of the table that are read at once. */
const ROWS_AT_ONCE = 256;

/** A page ends with the limit or with the room of the answer; `next` is there when another agent follows. */
function listAgents(
  { status, agent_type, after, limit = LIST_ROWS }: SocietyCallOf<'agent_list'>,
  bytesMax: number,
  ctx: EntityContext,
): Answer {
  const agents: Value[] = [];
  let bytes = 0;
  for (let last = after; ; ) {
    const rows = agentsAfter(last, ctx);
    for (const [id, row] of rows) {
      const isAsked = status === undefined || status.includes(row.status);
      if (isAsked && (agent_type ?? row.agent_type) === row.agent_type) {
        const shown = agentRow(id, row, idOf(ctx));
        bytes += byteLength(shown);
        const isFull = agents.length === limit || (bytes > bytesMax && agents.length > 0);
        if (isFull) return { value: { agents, next: last ?? '' } };
        agents.push(shown);
      }
      last = id;
    }
    if (rows.length < ROWS_AT_ONCE) return { value: { agents } };
  }
}

/** The next agents in the order of their ids: those that the entity made, and those of its swarms. */
function agentsAfter(last: string | undefined, ctx: EntityContext): readonly (readonly [string, Row<'children'>])[] {
  const of = (table: 'children' | 'workers') =>
    ctx.table(table).range({ ...(last === undefined ? {} : { after: last }), limit: ROWS_AT_ONCE });
  const own = of('children');
  const workers = of('workers');
  const all = [...own, ...workers].sort(([a], [b]) => (a < b ? -1 : 1));
  return all.slice(0, ROWS_AT_ONCE);
}

function agentRow(agent_id: string, row: Row<'children'>, parent_entity_id: string): Value {
  const { agent_type, display_name, created_at, public_key, status, expires_at } = row;
  const times = { created_at: timeOf(created_at) ?? '', expires_at: timeOf(expires_at) };
  return { agent_id, parent_entity_id, agent_type, display_name, public_key, status, ...times };
}
