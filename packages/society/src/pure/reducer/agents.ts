/** The tools about agents: register, list, change capabilities, change status, deactivate. */
import type { Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { type AgentCallOf, type AgentEntry, agentCalls } from '../contracts/index.js';
import { changeCapabilities } from './agent-rights.js';
import { commandStatus, deactivate } from './agent-status.js';
import { idOf, tableOf } from './entity-context.js';
import { type Answer, type Operations, operation } from './operations.js';
import { register } from './registration.js';
import { timeOf } from './time.js';
/** The operations of the tools about agents. */
export const agentOperations: Operations = {
  agent_register: operation(agentCalls.agent_register, {
    about: ({ parent_entity_id }) => parent_entity_id,
    run: (draft, args, call, ctx) => register(draft, args, call, ctx),
  }),
  agent_list: operation(agentCalls.agent_list, {
    about: ({ entity_id }) => entity_id,
    run: (_draft, args, _call, ctx) => listAgents(args, ctx),
  }),
  agent_capabilities: operation(agentCalls.agent_capabilities, {
    about: ({ agent_id }) => agent_id,
    run: (draft, args, call, ctx) => changeCapabilities(draft, args, call, ctx),
  }),
  agent_set_status: operation(agentCalls.agent_set_status, {
    about: ({ agent_id }) => agent_id,
    run: (draft, args, call, ctx) => commandStatus(draft, args, call, ctx),
  }),
  agent_deactivate: operation(agentCalls.agent_deactivate, {
    about: ({ agent_id }) => agent_id,
    run: (draft, args, call, ctx) => deactivate(draft, args, call, ctx),
  }),
};

/** The bytes of a page of agents: an answer to a model has at most 4 KiB. */
const PAGE_ROWS = 8;
const LIST_ROWS = 100;

function listAgents(
  { status, agent_type, after, limit = LIST_ROWS }: AgentCallOf<'agent_list'>,
  ctx: ReducerContext,
): Answer {
  const found: Value[] = [];
  const max = Math.min(limit, PAGE_ROWS);
  let last = after;
  for (;;) {
    const rows = agentsAfter(last, ctx);
    for (const [id, row] of rows) {
      if (found.length === max) return { value: { agents: found, next: last ?? '' } };
      last = id;
      const fits =
        (status === undefined || status.includes(row.status)) && (agent_type ?? row.agent_type) === row.agent_type;
      if (fits) found.push(agentRow(id, row, idOf(ctx)));
    }
    if (rows.length === 0) return { value: { agents: found } };
  }
}

/** The next agents in the order of their ids: those that the entity made, and those of its swarms. */
function agentsAfter(last: string | undefined, ctx: ReducerContext): readonly (readonly [string, AgentEntry])[] {
  const of = (table: 'children' | 'workers') =>
    tableOf(ctx, table).range({ ...(last === undefined ? {} : { after: last }), limit: READ_AT_ONCE });
  const own = of('children');
  const workers = of('workers');
  const all = [...own, ...workers].sort(([a], [b]) => (a < b ? -1 : 1));
  return all.slice(0, READ_AT_ONCE);
}

const READ_AT_ONCE = 256;

/** An agent in a list. */
function agentRow(agent_id: string, row: AgentEntry, parent_entity_id: string): Value {
  const { agent_type, display_name, created_at, public_key, status, expires_at } = row;
  return {
    agent_id,
    parent_entity_id,
    agent_type,
    display_name,
    created_at: timeOf(created_at) ?? '',
    public_key,
    status,
    expires_at: timeOf(expires_at),
  };
}
