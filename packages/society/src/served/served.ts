/**
 * The tools of a society for clients outside.
 *
 * Invariants
 * V1  Who is let through to an entity is that entity: the caller is found from the principal of the view, never from an
 *     argument.
 * V2  A call is one request to the caller's entity, under the id that the server gave it: sent again it is the same act and
 *     has the same answer.
 * V3  What an entity answers decides. Which tools are listed follows from its rights as they are at that moment.
 */

import type { AgentWorld, Served, ServedAnswer, ServedTool } from '@reprise/agent';
import { type Capability, isRepriseError, type Principal, RepriseError, type Value } from '@reprise/contracts';
import type { WorldView } from '@reprise/kernel';
import { permits } from '@reprise/kernel/authority';
import { shownAnswer, shownRefusal } from '../answers/shown.js';
import type { TokenIssuer } from '../api/answers.js';
import { EntityCaller } from '../api/caller.js';
import { withToken } from '../api/requests.js';
import {
  AGENT_ID,
  ANOTHER_CALL,
  ENTITY,
  type EntityState,
  entityReducer,
  NAME_ID,
  SOCIETY_TOOLS,
  type SocietyToolName,
} from '../pure/index.js';
import { fileSchema, type JsonSchema } from '../wire/index.js';
import { inboxResource } from './inbox.js';
import { registrationResource, withStatement } from './statements.js';

/** Makes tokens for agents that prove who they are. */
type Tokens = ((world: AgentWorld) => TokenIssuer) | undefined;

/** What a server offers for the society of a world. */
export function servedSociety(world: AgentWorld, tokens: Tokens): Served {
  return {
    tools: servedTools(),
    resources: [inboxResource(world), registrationResource(world)],
    async listed({ principal }: WorldView) {
      const id = entityOf(principal);
      const rights = id === undefined ? undefined : await rightsOf(world, id);
      return rights === undefined ? [] : Object.keys(SOCIETY_TOOLS).filter((tool) => permits(rights, 'tool', tool));
    },
    async admits({ principal }: WorldView) {
      const id = agentOf(principal);
      if (id === undefined) return true;
      const state = await stateOf(world, id);
      return state?.started === true && state.status !== 'deactivated' && state.status !== 'removed';
    },
    async call({ principal }, name, args, id): Promise<ServedAnswer> {
      const entity = entityOf(principal);
      if (entity === undefined) return denied('principal');
      const tool = name as SocietyToolName;
      const answer = await callOf(world, entity, tool, { args, otherwise: id, as: principal });
      if (answer.isError) return answer;
      if (tool === 'agent_challenge')
        return { ...answer, structured: withStatement(world, answer.structured ?? null, args) };
      if (tool !== 'agent_prove') return answer;
      return { ...answer, structured: (await withToken(world, answer.structured, tokens)) as unknown as Value };
    },
  };
}

/** The tools, each with the schemas of its two files. */
function servedTools(): readonly ServedTool[] {
  const served = (schema: JsonSchema) => schema as ServedTool['inputSchema'];
  return Object.entries(SOCIETY_TOOLS).map(([name, { description, args, answer }]) => ({
    name,
    description,
    inputSchema: served(fileSchema(args, 'input')),
    outputSchema: served(fileSchema(answer, 'output')),
  }));
}

async function callOf(world: AgentWorld, entity: string, tool: SocietyToolName, asked: Asked): Promise<ServedAnswer> {
  const { args, ...by } = asked;
  try {
    const answered = await new EntityCaller(world, entity).answerTo(tool, args as never, by);
    if (answered.is_error) return { structured: shownRefusal(answered.value), isError: true };
    return { structured: await shownAnswer(tool, answered, world.kernel.content), isError: false };
  } catch (error) {
    // Another call had this id (V2).
    if (isRepriseError(error, 'request_conflict')) return { structured: shownRefusal(ANOTHER_CALL), isError: true };
    throw absentToo(error, entity);
  }
}

interface Asked {
  readonly args: unknown;
  readonly otherwise: string;
  readonly as: Principal;
}

/** A person without an entity has no tools: the same answer as for one that does not exist. */
function absentToo(error: unknown, entity: string): unknown {
  if (!(error instanceof RepriseError) || error.code !== 'unknown_event') return error;
  return new RepriseError('cell_absent', `${entity} is no entity of this society`, { where: entity, cause: error });
}

function stateOf({ kernel }: AgentWorld, id: string): Promise<EntityState | undefined> {
  return kernel.state([entityReducer, id]);
}

/** What an entity may use now, by its whole chain; undefined for one that does not exist. */
async function rightsOf(world: AgentWorld, id: string): Promise<Capability | undefined> {
  if ((await stateOf(world, id))?.started !== true) return undefined;
  return (await world.kernel.rights(`cell:${ENTITY}/${id}`)).effective?.exercise;
}

/** The entity that a principal is; undefined for others. */
function entityOf(principal: Principal): string | undefined {
  const person = /^human:(.*)$/s.exec(principal)?.[1];
  if (person !== undefined) return NAME_ID.test(person) && !AGENT_ID.test(person) ? person : undefined;
  return agentOf(principal);
}

function agentOf(principal: Principal): string | undefined {
  const prefix = `cell:${ENTITY}/`;
  const id = principal.startsWith(prefix) ? principal.slice(prefix.length) : '';
  return AGENT_ID.test(id) ? id : undefined;
}

function denied(detail: string): ServedAnswer {
  return { structured: { error: 'capability_denied', detail }, isError: true };
}
