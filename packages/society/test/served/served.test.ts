import type { Served, ServedAnswer, WorldPart } from '@reprise/agent';
import type { Principal, Value } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { type Society, society } from '../../src/index.js';
import { SOCIETY_TOOLS } from '../../src/pure/index.js';

const CALL = { signal: new AbortController().signal };

/** A refusal says what happened, and what to do. */
const DUPLICATE = {
  error: 'duplicate_command',
  problem: expect.stringContaining('Nothing was done now'),
  hint: expect.stringContaining('new command_id'),
};

/** A world with one person, and calls of its tools as clients make them. */
async function office() {
  const part: WorldPart<Society> = society();
  const world = await openWorld({ store: memory(), models: {} as never, parts: [part] });
  await world.part(part).human('ann');
  const [served] = world.served as readonly [Served];
  return {
    world,
    served,
    society: world.part(part),
    call: (principal: Principal, name: string, args: Value, id: string = crypto.randomUUID()): Promise<ServedAnswer> =>
      served.call(world.kernel.as(principal), name, args, id, CALL),
    listed: (principal: Principal) => served.listed?.(world.kernel.as(principal)),
    [Symbol.asyncDispose]: () => world.close(),
  };
}

const register = (parent: string, capabilities: object = {}) => ({
  parent_entity_id: parent,
  agent_type: 'custom',
  display_name: 'Filing',
  capabilities,
});

async function registered(
  { call }: Pick<Awaited<ReturnType<typeof office>>, 'call'>,
  by: Principal,
  parent: string,
  capabilities: object = {},
): Promise<string> {
  const { structured } = await call(by, 'agent_register', register(parent, capabilities) as unknown as Value);
  return (structured as { readonly agent_id: string }).agent_id;
}

const agent = (id: string): Principal => `cell:society/Entity@1/${id}`;

describe('the tools of a society for clients', () => {
  it('A person registers an agent, and is answered in the form of the tool’s schema', async () => {
    await using of = await office();
    const { structured, isError } = await of.call('human:ann', 'agent_register', register('ann') as unknown as Value);
    expect(isError).toBe(false);
    expect(structured).toMatchObject({ agent_id: expect.stringMatching(/^[a-f0-9]{64}$/), status: 'registered' });
    expect(SOCIETY_TOOLS.agent_register.answer.safeParse(structured).error).toBeUndefined();
  });

  it('A person has all tools, and an agent those that its whole chain permits at that moment [CAP-4]', async () => {
    await using of = await office();
    const id = await registered(of, 'human:ann', 'ann', { tools: ['agent_*', 'memory_search'] });
    expect(await of.listed('human:ann')).toEqual(Object.keys(SOCIETY_TOOLS));
    const agents = Object.keys(SOCIETY_TOOLS).filter((name) => name.startsWith('agent_') || name === 'memory_search');
    expect(await of.listed(agent(id))).toEqual(agents);
    const below = await registered(of, agent(id), id);
    await of.call('human:ann', 'agent_capabilities', { agent_id: id, capabilities: { tools: ['memory_search'] } });
    expect(await of.listed(agent(below))).toEqual(['memory_search']);
    expect(await of.listed('human:bob')).toEqual([]);
    expect(await of.listed('operator')).toEqual([]);
  });

  it('A tool is open to the entity above an agent, and not to one beside or below it [SOC-44]', async () => {
    await using of = await office();
    const unknown = { structured: { error: 'agent_unknown' }, isError: true };
    const tries: readonly [string, (id: string) => Value][] = [
      ['agent_deactivate', (agent_id) => ({ agent_id })],
      ['agent_set_status', (agent_id) => ({ agent_id, to: 'activate' })],
      ['agent_list', (entity_id) => ({ entity_id })],
      ['agent_capabilities', (agent_id) => ({ agent_id, capabilities: { tools: [] } })],
      ['agent_register', (parent) => register(parent) as unknown as Value],
    ];
    for (const [tool, args] of tries) {
      const [one, two] = [await registered(of, 'human:ann', 'ann'), await registered(of, 'human:ann', 'ann')];
      const below = await registered(of, agent(one), one);
      expect([tool, await of.call(agent(two), tool, args(one))]).toEqual([tool, unknown]);
      expect([tool, await of.call(agent(two), tool, args(below))]).toEqual([tool, unknown]);
      expect([tool, (await of.call(agent(below), tool, args(one))).isError]).toEqual([tool, true]);
      expect([tool, await of.call('human:ann', tool, args('f'.repeat(64)))]).toEqual([tool, unknown]);
    }
  });

  it('A call without the right is answered with the check that failed [CAP-10]', async () => {
    await using of = await office();
    const id = await registered(of, 'human:ann', 'ann', { tools: ['agent_list'] });
    expect(await of.call(agent(id), 'agent_register', register(id) as unknown as Value)).toEqual({
      structured: { error: 'capability_denied', detail: 'tool' },
      isError: true,
    });
  });

  it('A hundred calls under one id are one act with one answer, and other arguments under it are refused [SRV-4]', async () => {
    await using of = await office();
    const args = register('ann') as unknown as Value;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => of.call('human:ann', 'agent_register', args, 'c.1')),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { structured } = await of.call('human:ann', 'agent_list', {});
    expect((structured as { readonly agents: readonly unknown[] }).agents).toHaveLength(1);
    const other = { ...register('ann'), display_name: 'Other' } as unknown as Value;
    expect(await of.call('human:ann', 'agent_register', other, 'c.1')).toEqual({
      structured: DUPLICATE,
      isError: true,
    });
  });

  it('A call with a text is known again by its words, although they are stored under another link [SRV-4]', async () => {
    await using of = await office();
    const id = await registered(of, 'human:ann', 'ann');
    const args = { agent_id: id, to: 'activate', reason: 'It is time.' };
    const first = await of.call('human:ann', 'agent_set_status', args, 'c.2');
    expect(first.isError).toBe(false);
    expect(await of.call('human:ann', 'agent_set_status', args, 'c.2')).toEqual(first);
    const other = await of.call('human:ann', 'agent_set_status', { ...args, reason: 'It was time.' }, 'c.2');
    expect(other.structured).toEqual(DUPLICATE);
  });

  it('An agent that was deactivated is admitted no more [SRV-3]', async () => {
    await using of = await office();
    const id = await registered(of, 'human:ann', 'ann');
    const admitted = () => of.served.admits?.(of.world.kernel.as(agent(id)));
    expect(await admitted()).toBe(true);
    await of.call('human:ann', 'agent_deactivate', { agent_id: id });
    expect(await admitted()).toBe(false);
    expect(await of.served.admits?.(of.world.kernel.as(agent('e'.repeat(64))))).toBe(false);
    expect(await of.served.admits?.(of.world.kernel.as('human:ann'))).toBe(true);
  });
});
