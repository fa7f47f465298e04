/** Agents as entities: their record, when they begin, how they end, and what they share with people. */

import type { JournalRecord } from '@reprise/contracts';
import { defineAgent, memory } from 'reprise';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { agentOf, agentWith, hangingTool, openOffice, refusedWith } from './support/office.js';

/** The name of what a record sends or commands. */
function nameOf(record: JournalRecord): readonly string[] {
  if (record.kind === 'event') return [record.event.name];
  return record.kind === 'cell_command' ? [record.command.name] : [];
}

describe('given a person and an agent', () => {
  it('an agent is a member, an owner and a parent as a person is, under its id [SOC-1]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann);
    const agent = scene.office.entity(id);
    const below = await agentOf(agent);
    const team = scene.office.group('team');
    await team.open({ owner: id });
    expect(await team.join(id, 'owner')).toBe(true);
    expect(await team.join('ann')).toBe(true);
    expect(await team.join(below)).toBe(true);
    expect(Object.keys(await team.members()).sort()).toStrictEqual([below, id, 'ann'].sort());
    for (const of of [ann, agent, scene.office.entity(below)]) {
      const write = { type: 'note', content: 'A fact.', visibility: 'group', store: 'group', group: 'team' } as const;
      const { is_error } = await of.answerTo('memory_write_warm', write);
      expect([of.id, is_error]).toStrictEqual([of.id, false]);
    }
    await scene.world.verify();
  });

  it('an agent has a record of its id, parent, type, name, key, status and time, and a list shows it [SOC-2]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const { agent_id, public_key } = await ann.register({
      agentType: 'autonomous',
      displayName: 'Scout',
      capabilities: { ttl_seconds: 60 },
    });
    const created = scene.clock.wall();
    expect((await ann.agents()).items).toStrictEqual([
      {
        agent_id,
        parent_entity_id: 'ann',
        agent_type: 'autonomous',
        display_name: 'Scout',
        created_at: new Date(created).toISOString(),
        public_key,
        status: 'registered',
        expires_at: new Date(created + 60_000).toISOString(),
      },
    ]);
    for (let n = 0; n < 20; n++) await agentOf(ann);
    const first = await ann.agents({ limit: 15 });
    const rest = await ann.agents({ after: first.next as string });
    expect([first.items.length, rest.items.length, rest.next]).toStrictEqual([15, 6, undefined]);
    expect((await ann.agents({ agentType: 'autonomous' })).items).toHaveLength(1);
  });

  it('a claude-code agent ends with its session [SOC-3]', async () => {
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
    await using scene = await openOffice({ agents: [worker], steps: [{ text: 'Done.' }] });
    const ann = await scene.office.human('ann');
    const { agent_id } = await ann.register({ agentType: 'claude-code', displayName: 'Code', capabilities: {} });
    const agent = scene.office.entity(agent_id);
    await (await agent.send(worker, 'Go.')).text();
    expect((await agent.state())?.status).toBe('active');
    await scene.world.session(`${agent_id}/worker`, worker).close();
    await scene.world.pump();
    expect((await agent.state())?.status).toBe('deactivated');
    await scene.world.verify();
  });

  it('hot context, rights and the fact of a registration stand in the frame in which an agent begins [SOC-7]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann, { tools: ['read_*'] });
    let begun: readonly string[] = [];
    for await (const { seq, records } of scene.world.kernel.frames(1)) {
      const named = records.flatMap(nameOf);
      const isIt = records.some(
        (record) => record.kind === 'fact' && record.name === 'society/Registered@1' && record.from?.[1] === id,
      );
      if (isIt) begun = named;
      if (seq === scene.world.kernel.head.seq) break;
    }
    expect(
      ['society/Make@1', 'sys/SetRights@1', 'society/Start@1', 'society/OpenL1@1'].filter(
        (name) => !begun.includes(name),
      ),
    ).toStrictEqual([]);
    expect(begun.indexOf('sys/SetRights@1')).toBeLessThan(begun.indexOf('society/Start@1'));
  });

  it('an agent whose rights the kernel refuses has no cell, no row and no hot context afterwards [SOC-8]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const holder = 'cell:society/Entity@1/ann' as const;
    // The operator narrows what ann may hand on: her entity has not heard of it, so only the kernel can refuse.
    await scene.world.kernel.command('sys/SetRights@1', { holder, grant: { may: { tool: ['read_*'] } } });
    const refused = ann.answerTo('agent_register', {
      parent_entity_id: 'ann',
      agent_type: 'custom',
      display_name: 'Too much',
      capabilities: { tools: ['write_*'] },
    });
    const { value, is_error } = await refused;
    expect([is_error, (value as { code: string }).code]).toStrictEqual([true, 'capability_exceeds_parent']);
    expect([(await ann.state())?.children, (await ann.agents()).items]).toStrictEqual([0, []]);
    const made: string[] = [];
    for await (const { seq, records } of scene.world.kernel.frames(1)) {
      for (const record of records)
        if (record.kind === 'event' && record.event.name === 'society/Make@1') made.push(record.to[1]);
      if (seq === scene.world.kernel.head.seq) break;
    }
    expect(made).toHaveLength(1);
    expect(await scene.office.entity(made[0] as string).state()).toBeUndefined();
    await scene.world.verify();
  });

  it('the parallel limit of an agent bounds it and the agents below it together [CAP-5]', async () => {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    const steps = [...Array.from({ length: 3 }, () => ({ calls: [{ tool: 'hang', args: {} }] })), { text: 'Refused.' }];
    await using scene = await openOffice({ agents: [worker], steps });
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann, { max_parallel_ops: 2 });
    const leader = scene.office.entity(lead);
    const [one, two] = [await agentOf(leader), await agentOf(leader)];
    await scene.office.entity(one).send(worker, 'Go.');
    while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
    await scene.office.entity(two).send(worker, 'Go.');
    while (state.hanging < 2) await new Promise((resolve) => setImmediate(resolve));
    const third = await leader.send(worker, 'Go.');
    const { stop } = await third.result();
    expect([state.hanging, stop.kind === 'Completed']).toStrictEqual([2, false]);
    expect((await scene.world.kernel.account(`entity:${lead}`))?.reserved.parallel).toBe(2);
  });

  it('an agent whose time ended while the world was closed is deactivated before anything is offered [CAP-15]', async () => {
    const [store, clock] = [memory(), new VirtualClock()];
    const { tool } = hangingTool();
    const worker = agentWith([tool]);
    const options = { store, clock, agents: [worker], steps: [{ calls: [{ tool: 'hang', args: {} }] }, { text: 'x' }] };
    let id = '';
    let before = 0;
    {
      await using scene = await openOffice(options);
      const ann = await scene.office.human('ann');
      id = await agentOf(ann, { ttl_seconds: 60 });
      await scene.office.entity(id).send(worker, 'Go.');
      await clock.advance(0);
      before = scene.world.kernel.head.seq;
    }
    await clock.advance(3_600_000);
    await using again = await openOffice(options);
    await again.world.pump();
    const kinds: (readonly string[])[] = [];
    for await (const { seq, records } of again.world.kernel.frames(before + 1)) {
      kinds.push([records[0]?.kind ?? '', ...records.filter(({ kind }) => kind === 'attempt').map(({ kind }) => kind)]);
      if (seq === again.world.kernel.head.seq) break;
    }
    const timer = kinds.findIndex(([kind]) => kind === 'timer');
    expect(timer).toBeGreaterThanOrEqual(0);
    expect(kinds.slice(0, timer).flat()).not.toContain('attempt');
    expect((await again.office.entity(id).state())?.status).toBe('deactivated');
    expect(await refusedWith(again.office.entity(id).agents())).toBe('agent_not_active');
    await again.world.verify();
  });

  it('a call whose arguments are too large is refused, and its entity goes on', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const tools = Array.from({ length: 128 }, (_, n) => `${String(n).padStart(4, '0')}${'t'.repeat(59)}`);
    const args = { agentType: 'custom', displayName: 'Large', capabilities: { tools }, grant: { tools } } as const;
    expect(await refusedWith(ann.register(args))).toBe('too_large');
    expect((await ann.agents()).items).toStrictEqual([]);
    await scene.world.verify();
  });
});
