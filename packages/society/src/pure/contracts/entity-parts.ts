/** What the files of an entity declare for its cell, put together: tables, events and facts, and the types that follow. */

import { actor, type Value, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { CallTo } from '@reprise/org/contracts';
import { failedFacts, failedTables } from './agent/failed.js';
import { commandTables } from './call/gate.js';
import { agentCalls } from './entity/agent-tools.js';
import { entityCoreFacts, entityCoreTables, type entityNews } from './entity/entity.js';
import { type memberEvents, memberFacts, memberTables } from './group/member.js';
import type { seenNews } from './group/seeing.js';
import { eventCalls, memoryToolCalls } from './memory/tools.js';
import { proofCalls, type proofNews, proofTables } from './staging/proofs.js';
import { returnCalls, returnFacts, type returnNews, returnTables } from './staging/returns.js';
import { type swarmTables, swarmTablesOfEntity, type swarmTells } from './swarm/swarm.js';
import { swarmCalls } from './swarm/tools.js';

/** The tables of an entity. */
export const entityTables = {
  ...entityCoreTables,
  ...commandTables,
  ...memberTables,
  ...proofTables,
  ...returnTables,
  ...swarmTablesOfEntity,
  ...failedTables,
  /** What was taken from a failed agent, and is asked of it again, by its id and a number. */
  unheard: z.strictObject({
    call: z.string().max(64),
    name: z.enum(['agent_capabilities', 'agent_deactivate']),
    args: value(),
    actor,
  }),
};

/** The facts of an entity. */
export const entityFacts = { ...entityCoreFacts, ...memberFacts, ...returnFacts, ...failedFacts };

/** A row of a table of an entity, by the name of the table. */
export type Row<T extends keyof typeof entityTables> = Inferred<(typeof entityTables)[T]>;

/** A row of a table of a swarm, by the name of the table. */
export type SwarmRow<T extends keyof typeof swarmTables> = Inferred<(typeof swarmTables)[T]>;

type EntityNews = typeof entityNews &
  typeof memberEvents &
  typeof seenNews &
  typeof proofNews &
  typeof returnNews &
  typeof swarmTells;

/** What an event of an entity says, by the name of the event: of plans, and of the cells around it. */
export type News<N extends keyof EntityNews> = EntityNews[N] extends { readonly schema: infer S } ? Inferred<S> : never;

type Inferred<S> = S extends z.AnySchema ? z.infer<S> : never;

/** The tools of a society, each stated once. */
export const SOCIETY_TOOLS = {
  ...agentCalls,
  ...swarmCalls,
  ...memoryToolCalls,
  ...proofCalls,
  ...returnCalls,
  ...eventCalls,
};

/** The name of a tool of a society. */
export type SocietyToolName = keyof typeof SOCIETY_TOOLS;

/** The arguments of a tool, as an entity receives them. */
export type SocietyCallOf<T extends SocietyToolName> = CallTo<(typeof SOCIETY_TOOLS)[T]>;

/** The arguments of a call of this tool. They were parsed when the call was taken, and are kept so: not parsed again. */
export function argsOf<T extends SocietyToolName>({ args }: { readonly args: Value }, _tool: T): SocietyCallOf<T> {
  return args as SocietyCallOf<T>;
}
