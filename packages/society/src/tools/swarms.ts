/** The tools of swarms, as models call them. Long texts are stored, and the calls hold their links. */
import { defineOwnerTool, putText, type Tool } from '@reprise/agent';
import { MICRO, present, type Ref, type Value, wellFormed } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import type * as z from 'zod';
import type { KeptManifest, SwarmCallOf } from '../pure/index.js';
import { SOCIETY_TOOLS, type SocietyToolName } from '../wire/index.js';

/** The arguments of a tool, as a client writes them. */
type ArgumentsOf<T extends SocietyToolName> = z.input<(typeof SOCIETY_TOOLS)[T]['input']>;

/** A manifest of a swarm, as it is written. */
export type SwarmManifest = Omit<ArgumentsOf<'swarm_create'>, 'command_id'>;

/** Keeps a manifest: its texts are links, its budget is whole, and it has an id. */
export async function keepManifest(
  { swarm_id = newId(), goal, agents, budget_usd, ...rest }: SwarmManifest,
  content: ContentStore,
): Promise<KeptManifest> {
  const { command_id: _, ...kept } = present(rest) as Record<string, unknown>;
  const slots = [];
  for (const { task, ...slot } of agents) {
    const task_ref = task === undefined ? {} : { task_ref: await textOf(content, task) };
    slots.push({ ...(present(slot) as object), ...task_ref });
  }
  const goal_ref = await textOf(content, goal);
  const budget = budget_usd === undefined ? {} : { budget_micro_money: Math.ceil(budget_usd * MICRO) };
  return { ...kept, swarm_id, goal_ref, agents: slots, ...budget } as unknown as KeptManifest;
}

/** Keeps a call of `swarm_task`: its texts are links. */
async function keepTask(
  { task, result, ...rest }: Omit<ArgumentsOf<'swarm_task'>, 'command_id'>,
  content: ContentStore,
): Promise<SwarmCallOf<'swarm_task'>> {
  const { command_id: _, ...kept } = present(rest) as Record<string, unknown>;
  return {
    ...kept,
    ...(task === undefined ? {} : { task_ref: await textOf(content, task) }),
    ...(result === undefined ? {} : { result_ref: await textOf(content, result) }),
  } as SwarmCallOf<'swarm_task'>;
}

/** Keeps a call of `swarm_disband`: its reason is a link. */
async function keepDisband(
  { reason, ...rest }: Omit<ArgumentsOf<'swarm_disband'>, 'command_id'>,
  content: ContentStore,
): Promise<SwarmCallOf<'swarm_disband'>> {
  const { command_id: _, ...kept } = present(rest) as Record<string, unknown>;
  const text = reason === undefined ? {} : { reason_ref: await textOf(content, reason) };
  return { ...kept, ...text } as SwarmCallOf<'swarm_disband'>;
}

function textOf(content: ContentStore, text: string): Promise<Ref> {
  return putText(content, wellFormed(text));
}

function newId(): string {
  return `swarm-${crypto.randomUUID()}`;
}

function describe(name: 'swarm_create' | 'swarm_status' | 'swarm_disband' | 'swarm_task') {
  const { description, input } = SOCIETY_TOOLS[name];
  return { name, description, args: input };
}

/** Creates a swarm. */
const swarmCreate: Tool = defineOwnerTool({
  ...describe('swarm_create'),
  keep: async (manifest: SwarmManifest, { content }: { readonly content: ContentStore }) =>
    (await keepManifest(manifest, content)) as unknown as Value,
} as never);

/** Shows a swarm. */
const swarmStatus: Tool = defineOwnerTool(describe('swarm_status') as never);

/** Ends a swarm. */
const swarmDisband: Tool = defineOwnerTool({
  ...describe('swarm_disband'),
  keep: async (args: ArgumentsOf<'swarm_disband'>, { content }: { readonly content: ContentStore }) =>
    (await keepDisband(args, content)) as unknown as Value,
} as never);

/** What a coordinator and its workers do in a hierarchical swarm. */
export const swarmTask: Tool = defineOwnerTool({
  ...describe('swarm_task'),
  keep: async (args: ArgumentsOf<'swarm_task'>, { content }: { readonly content: ContentStore }) =>
    (await keepTask(args, content)) as unknown as Value,
} as never);

/** The tools of swarms. */
export const swarmTools: readonly Tool[] = [swarmCreate, swarmStatus, swarmDisband, swarmTask];
