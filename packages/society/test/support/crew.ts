/** A world with people, agents and groups, for tests of memory, trust and events. */
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type AgentRegister, type Entity, type Society, society } from 'reprise/society';
import type { SocietyToolName } from '../../src/pure/index.js';

/** A world with a society. */
export async function openOffice(people: readonly string[] = ['ann', 'ben']) {
  const part = society();
  const world = await openWorld({ store: memory(), models: { main: script() }, parts: [part] });
  const office = world.part(part);
  for (const name of people) await office.human(name);
  return { world, office };
}

/** An opened world. */
export type Office = Awaited<ReturnType<typeof openOffice>>;

/** Registers an agent below an entity. */
export async function agentOf(office: Society, parent: Entity, more: Partial<AgentRegister> = {}): Promise<Entity> {
  const spec = { agentType: 'custom', displayName: 'Bot', capabilities: {}, ...more } as AgentRegister;
  const { agent_id } = await parent.register(spec);
  return office.entity(agent_id);
}

/** Writes an item to a group as an entity. @returns the value of the answer */
export async function writeTo(_: Office, entity: Entity, group: string, content: string, more: object = {}) {
  const item = { type: 'note', visibility: 'group', group, content, ...more } as const;
  return (await entity.answerTo('memory_write_warm', item)).value as { item_id?: string; state?: string };
}

/** The value of a tool's answer. */
export async function told(entity: Entity, tool: SocietyToolName, args: object) {
  return (await entity.answerTo(tool, args as never)).value as never;
}
