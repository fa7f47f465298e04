/** The tools of a society that models call, encoded as every other call of them (encode/N1). */
import { defineOwnerTool, type Tool } from '@reprise/agent';
import { present, RepriseError } from '@reprise/contracts';
import type * as z from 'zod';
import { encodeCall } from '../call/encode.js';
import { SOCIETY_TOOLS, type SocietyToolName, type ToolArgs } from '../wire/index.js';

/** A manifest of a swarm, as it is written. */
export type SwarmManifest = Omit<ToolArgs<'swarm_create'>, 'command_id'>;

/** A tool of a society as models call it. @param jsonSchema for arguments that zod has no JSON Schema for */
export function toolOf(name: SocietyToolName, jsonSchema?: object): Tool {
  const { description, input }: { readonly description: string; readonly input: z.ZodObject } = SOCIETY_TOOLS[name];
  return defineOwnerTool({
    name,
    description,
    args: input,
    ...present({ jsonSchema }),
    async keep(args, { content, session }) {
      const call = await encodeCall(name, args, { content, entity: entityOf(session.key) });
      if ('args' in call) return call.args;
      throw new RepriseError('invalid_argument', `invalid arguments for ${name}`, {
        where: name,
        actual: call.refused,
      });
    },
  });
}

/** The entity that a session or a job of it belongs to: its key begins with the entity's id, which has no slash. */
function entityOf(session: string): string {
  return session.split('/', 1)[0] ?? session;
}

/** What a coordinator and its workers do in a hierarchical swarm. */
export const swarmTask: Tool = toolOf('swarm_task');

/** The tools that make and direct swarms. */
export const swarmTools: readonly Tool[] = [
  toolOf('swarm_create'),
  toolOf('swarm_status'),
  toolOf('swarm_disband'),
  swarmTask,
];

/** What agents use to write items, to read, search and share them, and to judge those of others. */
export const groupTools: readonly Tool[] = (
  [
    'memory_write_warm',
    'memory_read_warm',
    'memory_search',
    'memory_share',
    'memory_assess',
    'memory_validate',
  ] as const
).map((name) => toolOf(name));
