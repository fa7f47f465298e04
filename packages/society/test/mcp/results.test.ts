/** What real clients of a society read: words of agents, reasons, archives, whole pages; and what they take back. */
import { defineAgent, defineTool } from 'reprise';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { failEntity } from '../../../../conformance/society/failing.js';
import { agentAs, openServed, registered, type ServedPlace, until } from './support.js';

const LONG = `The market is large. ${'More of it. '.repeat(3_000)}`;

/** A coordinator that never acts by itself, and workers of which one answers at length and one fails. */
function crew() {
  const worker = (name: string) => defineAgent({ name, model: 'main', instructions: `You are ${name}.`, tools: [] });
  return {
    agents: [worker('scout'), worker('broken')],
    model: ({ system }: { readonly system: string }) =>
      system.includes('broken') ? ({ fail: 'provider_error_terminal/bad_request' } as const) : { text: LONG },
  };
}

const slot = (name: string, count = 1) => ({ slot: name, agent_type: 'swarm-worker', capabilities: {}, count });

/** A hierarchical swarm that an agent of Ann leads by its own client. */
async function led(at: ServedPlace) {
  await at.office.human('ann');
  const ann = await at.as('human:ann');
  const id = await registered(ann, 'ann');
  const lead = await at.as(agentAs(id));
  await lead.call('agent_list');
  const agents = [slot('scout', 2), slot('broken')];
  const manifest = { swarm_id: 'markets', goal: 'Compare two markets', strategy: 'hierarchical', agents };
  await ann.call('swarm_create', { ...manifest, coordinator_agent_id: id });
  return { ann, lead, id };
}

const tool = { swarm_id: 'markets' };

describe('the results of a swarm, for a client', () => {
  it.each(['HTTP', 'pipes'] as const)(
    'a coordinator reads the words of its workers and why one failed, and reads on to the last word, over %s [SOC-97] [SOC-18]',
    async (way) => {
      await using at = await openServed(crew());
      const { id } = await led(at);
      const lead = way === 'HTTP' ? await at.as(agentAs(id)) : await at.onPipes(agentAs(id));
      const { data: given } = await lead.call('swarm_task', {
        ...tool,
        action: 'delegate',
        slot: 'scout',
        task: 'Look.',
      });
      expect(given.reports).toMatchObject([{ task: 1, slot: 'scout', status: 'queued' }]);
      await lead.call('swarm_task', { ...tool, action: 'delegate', slot: 'broken', task: 'Look.' });
      const { data } = await lead.call('swarm_task', { ...tool, action: 'collect' });
      expect(data.reports).toMatchObject([
        { task: 1, status: 'ok', summary: [...LONG].slice(0, 1_000).join(''), next_from: 1_000 },
        { task: 2, slot: 'broken', status: 'failed', code: expect.stringContaining('provider_error_terminal') },
      ]);
      let words = '';
      for (let from: number | undefined = 0; from !== undefined; ) {
        const { data: read } = await lead.call('swarm_status', { ...tool, task: 1, from });
        words += read.results[0].summary;
        from = read.results[0].next_from;
      }
      expect(words).toBe(LONG);
      expect(await lead.call('swarm_status', { ...tool, task: 9 })).toMatchObject({ data: { error: 'no_task' } });
    },
  );

  it('the creator reads goal, words, reasons and synthesis after the end, in pages of the size that it asks for [SOC-97] [SOC-98]', async () => {
    await using at = await openServed(crew());
    const { ann, lead } = await led(at);
    for (const name of ['scout', 'scout', 'broken'])
      await lead.call('swarm_task', { ...tool, action: 'delegate', slot: name, task: 'Look.' });
    await lead.call('swarm_task', { ...tool, action: 'collect' });
    await lead.call('swarm_task', { ...tool, action: 'finish', result: 'Both are large.' });
    const { data: whole } = await ann.call('swarm_status', tool);
    expect(whole).toMatchObject({
      ...{ status: 'archived', goal: 'Compare two markets', synthesis: { text: 'Both are large.' } },
      results: [{ status: 'ok' }, { status: 'ok' }, { status: 'failed', code: expect.any(String) }],
    });
    expect(whole).not.toHaveProperty('next');
    const rows: unknown[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const { data } = await ann.call('swarm_status', { ...tool, limit: 1, ...(after === undefined ? {} : { after }) });
      expect(data.agents.length + data.results.length).toBe(1);
      rows.push(...data.agents, ...data.results);
      after = data.next;
    }
    expect(rows).toStrictEqual([...whole.agents, ...whole.results]);
    const handle = await at.office.swarm('markets').status();
    expect(handle.results).toStrictEqual(whole.results);
    expect(await at.office.swarm('markets').result(1)).toContain('More of it.');
  });

  it('a model that leads reads the words of its workers in its answers, also of a status [SOC-97]', async () => {
    const told: string[] = [];
    const calls = [{ action: 'delegate', slot: 'scout', task: 'Look.' }, { action: 'collect' }] as const;
    let n = 0;
    const worker = (name: string) => defineAgent({ name, model: 'main', instructions: `You are ${name}.`, tools: [] });
    await using at = await openServed({
      agents: [worker('lead'), worker('scout')],
      model: ({ system, messages }) => {
        if (!system.includes('lead')) return { text: 'The market is large.' };
        told.push(JSON.stringify(messages));
        const call = calls[n++];
        return call === undefined ? { text: 'Done.' } : { calls: [{ tool: 'swarm_task', args: { ...tool, ...call } }] };
      },
    });
    const ann = await at.office.human('ann');
    const agents = ['lead', 'scout'].map((slot) => ({
      slot,
      agentType: 'swarm-worker' as const,
      capabilities: {},
      count: 1,
    }));
    const goal = { swarmId: 'markets', goal: 'Compare', strategy: 'hierarchical', agents } as const;
    await (await ann.createSwarm({ ...goal, coordinatorAgentId: { slot: 'lead' } })).ended({ within: '60s' });
    expect(told.at(-1)).toContain('The market is large.');
  });

  it('a creator reads why its swarm failed [SOC-97]', async () => {
    await using at = await openServed(crew());
    await at.office.human('ann');
    const ann = await at.as('human:ann');
    await ann.call('swarm_create', { ...tool, goal: 'Go', strategy: 'broadcast', agents: [slot('broken')] });
    const { data } = await until(
      () => ann.call('swarm_status', tool),
      (one) => one.data.status === 'failed',
    );
    expect(data.code).toEqual(expect.any(String));
  });
});

describe('pages that clients ask for', () => {
  it('200 agents are one page of 200, and a smaller page names where the next begins [SOC-98]', async () => {
    await using at = await openServed();
    await at.office.human('ann');
    const ann = await at.as('human:ann');
    for (let n = 0; n < 203; n++) await registered(ann, 'ann');
    const { data } = await ann.call('agent_list', { limit: 200 });
    expect([data.agents.length, typeof data.next]).toStrictEqual([200, 'string']);
    const { data: rest } = await ann.call('agent_list', { limit: 200, after: data.next });
    expect([rest.agents.length, rest.next]).toStrictEqual([3, undefined]);
  });

  it('50 items and 100 events are one page each [SOC-98]', async () => {
    await using at = await openServed();
    const human = await at.office.human('ann');
    await at.office.human('ben');
    const group = at.office.group('crew');
    await group.open({ owner: 'ann' });
    await group.join('ann', 'owner');
    await group.join('ben');
    for (let n = 0; n < 60; n++)
      await human.memory.write({ type: 'note', visibility: 'group', group: 'crew', content: `Note ${n}.` });
    const ben = await at.as('human:ben');
    const { data } = await ben.call('memory_read_warm', { group: 'crew', limit: 50 });
    expect([data.items.length, data.next, data.items[49].content]).toStrictEqual([50, '50', 'Note 49.']);
    const { data: rest } = await ben.call('memory_read_warm', { group: 'crew', limit: 50, after: data.next });
    expect([rest.items.length, rest.next]).toStrictEqual([10, undefined]);
    const { data: heard } = await ben.call('events_poll', { limit: 100 });
    expect(heard.events.length).toBeGreaterThanOrEqual(60);
  });
});

describe('an agent that is deactivated', () => {
  it('a deactivated agent leaves an archive that its parent reads by the id in the answer: focus, highlights, decisions, entities [SOC-99] [SOC-39]', async () => {
    await using at = await openServed();
    await at.office.human('ann');
    const ann = await at.as('human:ann');
    const id = await registered(ann, 'ann', {}, { display_name: 'Filing' });
    const bot = await at.as(agentAs(id));
    const task = { goal: 'File the letters', findings: ['Two letters are missing.'] };
    const agent = { task, working_memory: { decisions: ['Ask for the letters again.'] } };
    await bot.call('memory_write_hot', { patch: { active: { file: 'a.ts' }, agent }, expected_version: 1 });
    const { data: ended } = await ann.call('agent_deactivate', { agent_id: id, reason: 'Done.' });
    const { data } = await until(
      () => ann.call('memory_read_warm', { item_id: ended.archive_item_id }),
      ({ isError }) => !isError,
    );
    const [item] = data.items;
    expect(item).toMatchObject({ type: 'session', subject_key: ended.archive_item_id, state: 'live' });
    expect(JSON.parse(item.content)).toMatchObject({
      ...{ type: 'session', id: ended.archive_item_id, focus: 'Agent Filing final state', goal: 'File the letters' },
      highlights: ['Two letters are missing.'],
      decisions: ['Ask for the letters again.'],
      entities_mentioned: [id, 'ann'],
    });
    const ben = await at.office.human('ben').then(() => at.as('human:ben'));
    const other = await ben.call('memory_read_warm', { item_id: ended.archive_item_id });
    expect(other).toMatchObject({ isError: true, data: { error: 'item_unknown' } });
  });

  it('an agent that a swarm made for its creator leaves an archive as well [SOC-99] [SOC-39]', async () => {
    await using at = await openServed(crew());
    const { ann } = await led(at);
    const { data: swarm } = await ann.call('swarm_status', tool);
    const { data: ended } = await ann.call('agent_deactivate', { agent_id: swarm.agents[0].agent_id });
    const read = () => ann.call('memory_read_warm', { item_id: ended.archive_item_id });
    const { data } = await until(read, ({ data: { error } }) => error !== 'archive_under_way');
    expect(data.items[0].content).toContain('scout');
  });
});

describe('a command_id that a client uses twice', () => {
  it('for another call is refused, and the answer says that nothing was done and what to do [SOC-100] [SOC-74]', async () => {
    await using at = await openServed();
    await at.office.human('ann');
    const ann = await at.as('human:ann');
    const note = { type: 'note', visibility: 'private', content: 'One.', command_id: 'same' };
    await ann.call('memory_write_warm', note);
    const { isError, data } = await ann.call('memory_write_warm', { ...note, content: 'Two.' });
    expect([isError, data.error]).toStrictEqual([true, 'duplicate_command']);
    expect(data.problem).toContain('Nothing was done');
    expect(data.hint).toContain('new command_id');
  });
});

describe('an agent whose cell has failed, and a client that revokes it', () => {
  /** An agent whose model hangs in a call of a tool. */
  function hanging() {
    const state = { begun: 0, stopped: 0 };
    const hang = defineTool({
      name: 'hang',
      description: 'Takes very long.',
      args: z.strictObject({}),
      run: async (_, { signal }) => {
        state.begun++;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        state.stopped++;
        return 'stopped';
      },
    });
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [hang] });
    const model = () => ({ calls: [{ tool: 'hang', args: {} }] });
    return { state, worker, options: { agents: [worker], model } };
  }

  const isOf = (key: string, agent: string) => key === agent || key.startsWith(`${agent}/`);

  /** The effects of an agent's cells that were emitted after a frame. */
  async function effectsAfter({ world: { kernel } }: ServedPlace, seq: number, agent: string): Promise<number> {
    let count = 0;
    if (kernel.head.seq === seq) return 0;
    for await (const { seq: at, records } of kernel.frames(seq + 1)) {
      count += records.filter((one) => one.kind === 'effect' && isOf(one.plan[1], agent)).length;
      if (at >= kernel.head.seq) return count;
    }
    return count;
  }

  it('in the middle of a call: the call ends, the answers say that the cell has failed, and no effect follows [SOC-76]', async () => {
    const { state, worker, options } = hanging();
    await using at = await openServed(options);
    const human = await at.office.human('ann');
    const ann = await at.as('human:ann');
    const id = await registered(ann, 'ann');
    await at.office.entity(id).send(worker, 'Go.');
    await until(
      async () => state.begun,
      (n) => n === 1,
    );
    await failEntity(at.world, id);
    const { data: narrowed } = await ann.call('agent_capabilities', { agent_id: id, capabilities: { tools: [] } });
    expect(narrowed).toMatchObject({ cell: 'failed', code: expect.any(String), status: 'active', revision: 0 });
    const { data: ended } = await ann.call('agent_deactivate', { agent_id: id });
    expect(ended).toMatchObject({ status: 'deactivated', cell: 'failed', code: expect.any(String) });
    await until(
      async () => state.stopped,
      (n) => n === 1,
    );
    const { seq } = at.world.kernel.head;
    await at.clock.advance(1_000);
    await human.agents();
    expect(await effectsAfter(at, seq, id)).toBe(0);
    await at.world.verify();
  });

  it('in the middle of a task of a swarm: the task ends, and no effect follows [SOC-76] [SOC-77]', async () => {
    const { state, options } = hanging();
    await using at = await openServed(options);
    await at.office.human('ann');
    const ann = await at.as('human:ann');
    await ann.call('swarm_create', { ...tool, goal: 'Go', strategy: 'broadcast', agents: [slot('worker', 2)] });
    await until(
      async () => state.begun,
      (n) => n === 2,
    );
    const { data: before } = await ann.call('swarm_status', tool);
    const id: string = before.agents[0].agent_id;
    await failEntity(at.world, id);
    const { data: ended } = await ann.call('agent_deactivate', { agent_id: id });
    expect(ended).toMatchObject({ status: 'deactivated', cell: 'failed' });
    await until(
      async () => state.stopped,
      (n) => n === 1,
    );
    const { seq } = at.world.kernel.head;
    await at.clock.advance(1_000);
    expect(await effectsAfter(at, seq, id)).toBe(0);
    const { data: after } = await ann.call('swarm_status', tool);
    expect(after.results[0]).toMatchObject({ agent_id: id, status: 'failed', code: 'cell_failed' });
    await at.world.verify();
  });
});
