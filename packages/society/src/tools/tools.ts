/** The tools of a society that models call, encoded as every other call of them (encode/N1). */

import type { Tool } from '@reprise/agent';
import { offerTool } from '@reprise/org';
import type { OwnerTool } from '@reprise/org/contracts';
import { addedTo, type CalledWith } from '../call/encode.js';
import { SOCIETY_TOOLS, type SocietyToolName } from '../pure/index.js';

/** A tool of a society as models call it. */
export function toolOf(name: SocietyToolName): Tool {
  const tool: OwnerTool = SOCIETY_TOOLS[name];
  return offerTool(name, tool, (asked: CalledWith, { content, session }) =>
    addedTo(name, asked, { content, entity: entityOf(session.key), id: asked.command_id ?? crypto.randomUUID() }),
  );
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
