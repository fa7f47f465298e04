/** Capabilities of agents: never more than their parent's, taken back at any time, and by whom. */
import { describe, expect, it } from 'vitest';
import { agentOf, agentWith, hangingTool, openOffice, refusedWith } from './support/office.js';

const GROUPS = (groups: string[]) => ({
  layers: ['l1' as const, 'l2' as const],
  groups,
  visibility: ['group' as const],
});

describe('given an agent that registers agents', () => {
  it('a registration above the parent is refused in each dimension by its name, and makes nothing [CAP-2]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann, {
      tools: ['agent_*', 'read_*'],
      memory_write: GROUPS(['team-*']),
      memory_read: GROUPS(['team-*']),
      max_parallel_ops: 4,
      ttl_seconds: 60,
      autonomous: false,
    });
    const leader = scene.office.entity(lead);
    const cells = async () => (await leader.state())?.children;
    const above = [
      ['tools', { tools: ['write_file'] }],
      ['tools', { tools: ['*'] }],
      ['memory_write', { memory_write: GROUPS(['other']) }],
      ['memory_read', { memory_read: GROUPS(['*']) }],
      ['max_parallel_ops', { max_parallel_ops: 5 }],
      ['ttl_seconds', { ttl_seconds: 61 }],
      ['ttl_seconds', { ttl_seconds: 0 }],
      ['autonomous', { autonomous: true }],
    ] as const;
    for (const [dimension, capabilities] of above) {
      const { value, is_error } = await leader.answerTo('agent_register', {
        parent_entity_id: leader.id,
        agent_type: 'custom',
        display_name: 'Too much',
        capabilities: capabilities as never,
      });
      expect([
        dimension,
        is_error,
        (value as { code: string }).code,
        (value as { dimension: string }).dimension,
      ]).toStrictEqual([dimension, true, 'capability_exceeds_parent', dimension]);
      // An agent with refused operations is suspended: the parent lets it go on.
      if ((await leader.state())?.status === 'suspended') await ann.setStatus(lead, 'resume');
    }
    expect(await cells()).toBe(0);
    const id = await agentOf(leader, { tools: ['read_file'] });
    const { effective } = await leader.capabilities(id);
    expect([effective.tools, effective.max_parallel_ops, effective.autonomous, effective.ttl_seconds]).toStrictEqual([
      ['read_file'],
      4,
      false,
      60,
    ]);
    await scene.world.verify();
  });

  it('a change keeps what it leaves out, and null is the value of the parent, also after the parent has changed [CAP-8]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann, { tools: ['agent_*', 'read_*', 'grep'] });
    const leader = scene.office.entity(lead);
    const id = await agentOf(leader, { tools: ['read_file'], max_parallel_ops: 2 });
    const kept = await leader.capabilities(id, { capabilities: { max_parallel_ops: 1 } });
    expect([kept.declared, kept.revision]).toStrictEqual([{ tools: ['read_file'], max_parallel_ops: 1 }, 1]);
    const inherited = await leader.capabilities(id, { capabilities: { tools: null } });
    expect([inherited.declared, inherited.effective.tools]).toStrictEqual([
      { max_parallel_ops: 1 },
      ['agent_*', 'grep', 'read_*'],
    ]);
    await ann.capabilities(lead, { capabilities: { tools: ['agent_*', 'grep'] } });
    expect((await leader.capabilities(id)).effective.tools).toStrictEqual(['agent_*', 'grep']);
    await ann.capabilities(lead, { capabilities: { tools: ['agent_*', 'grep', 'write_*'] } });
    expect((await leader.capabilities(id)).effective.tools).toStrictEqual(['agent_*', 'grep', 'write_*']);
    const holder = `cell:society/Entity@1/${id}` as const;
    expect((await scene.world.kernel.rights(holder)).effective?.exercise.may.tool).toStrictEqual([
      'agent_*',
      'grep',
      'write_*',
    ]);
    await scene.world.verify();
  });

  it('an entity above narrows, only the direct parent widens, and a change of outdated capabilities is refused [CAP-11]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann);
    const leader = scene.office.entity(lead);
    const id = await agentOf(leader, { tools: ['agent_*', 'read_*'] });
    const narrowed = await ann.capabilities(id, { capabilities: { tools: ['agent_*', 'read_file'] } });
    expect(narrowed.effective.tools).toStrictEqual(['agent_*', 'read_file']);
    expect(await refusedWith(ann.capabilities(id, { capabilities: { tools: ['read_*'] } }))).toBe('not_authorized');
    expect(await refusedWith(scene.office.entity(id).capabilities(id, { capabilities: { tools: [] } }))).toBe(
      'not_authorized',
    );
    const stale = leader.capabilities(id, { capabilities: { tools: ['agent_*', 'read_*'] }, expectedRevision: 0 });
    expect(await refusedWith(stale)).toBe('revision_conflict');
    const widened = await leader.capabilities(id, {
      capabilities: { tools: ['agent_*', 'read_*'] },
      expectedRevision: 1,
    });
    expect([widened.effective.tools, widened.revision]).toStrictEqual([['agent_*', 'read_*'], 2]);
    const other = await scene.office.human('bob');
    expect(await refusedWith(other.capabilities(id, { capabilities: { tools: [] } }))).toBe('agent_unknown');
    expect(await refusedWith(scene.office.entity(id).capabilities(lead))).toBe('agent_unknown');
    await scene.world.verify();
  });

  it('an entity above the parent widens neither what an agent uses nor what it hands on [CAP-11]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann);
    const leader = scene.office.entity(lead);
    const id = await agentOf(leader, { tools: ['agent_*'] }, { grant: { tools: ['agent_*', 'read_file'] } });
    const tooMuch = [
      { grant: { tools: ['agent_*', 'read_*'] } },
      { grant: { tools: null } },
      { capabilities: { tools: ['grep'] } },
      { capabilities: { tools: [] }, grant: { tools: ['agent_*', 'read_*'] } },
    ];
    for (const change of tooMuch) expect(await refusedWith(ann.capabilities(id, change))).toBe('not_authorized');
    const below = await agentOf(scene.office.entity(id), { tools: ['read_file'] });
    await ann.capabilities(id, { grant: { tools: ['agent_*'] } });
    const { effective } = await leader.capabilities(below);
    expect(effective.tools).toStrictEqual([]);
    await scene.world.verify();
  });

  it('an open session loses the tools that are taken from its agent, also those that the agent still hands on [CAP-12]', async () => {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    await using scene = await openOffice({
      agents: [worker],
      steps: [{ calls: [{ tool: 'hang', args: {} }] }, { calls: [{ tool: 'hang', args: {} }] }, { text: 'Refused.' }],
    });
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann, { tools: ['hang', 'agent_*'] }, { grant: { tools: ['*'] } });
    const run = await scene.office.entity(id).send(worker, 'Go.');
    while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
    await ann.capabilities(id, { capabilities: { tools: ['agent_*'] } });
    await run.result();
    expect(state).toStrictEqual({ hanging: 1, stopped: 1 });
    const { declared } = await scene.world.kernel.rights(`cell:aos.agent/SessionReducer@1/${id}/worker`);
    expect(declared?.exercise?.may.tool).toStrictEqual(['agent_*']);
    await scene.world.verify();
  });

  it('the nearest entity above that narrows a dimension is named [CAP-1]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann, { tools: ['agent_*', 'read_*'] });
    const leader = scene.office.entity(lead);
    const middle = await agentOf(leader);
    const id = await agentOf(scene.office.entity(middle), { tools: ['read_file', 'read_dir'] });
    await ann.capabilities(lead, { capabilities: { tools: ['agent_*', 'read_file'] } });
    const report = await leader.capabilities(id);
    expect([report.effective.tools, report.limited_by]).toStrictEqual([
      ['read_file'],
      [{ ancestor: lead, dimension: 'tools' }],
    ]);
  });

  it('a narrowing ends what is open three generations below, in its own frame [CAP-12]', async () => {
    const { tool, state } = hangingTool();
    const agent = agentWith([tool]);
    const steps = Array.from({ length: 6 }, () => ({ calls: [{ tool: 'hang', args: {} }] }));
    await using scene = await openOffice({
      agents: [agent],
      steps: [...steps, ...Array.from({ length: 6 }, () => ({ text: 'It was taken.' }))],
    });
    const ann = await scene.office.human('ann');
    const ids: string[] = [];
    let parent = ann;
    for (let depth = 0; depth < 3; depth++) {
      const id = await agentOf(parent);
      ids.push(id);
      parent = scene.office.entity(id);
    }
    const runs = await Promise.all(
      ids.flatMap((id) => ['a', 'b'].map((session) => scene.office.entity(id).send(agent, 'Go.', { session }))),
    );
    while (state.hanging < 6) await new Promise((resolve) => setImmediate(resolve));
    const before = scene.world.kernel.head.seq;
    await ann.capabilities(ids[0] as string, { capabilities: { tools: ['agent_*'] } });
    const texts = await Promise.all(runs.map((run) => run.text()));
    expect(texts).toStrictEqual(Array.from({ length: 6 }, () => 'It was taken.'));
    const frames: (readonly unknown[])[] = [];
    for await (const { seq, records } of scene.world.kernel.frames(before + 1)) {
      const ended = records.filter((record) => record.kind === 'settled' && record.code?.startsWith('cap_denied'));
      if (ended.length > 0) frames.push([seq - before, ended.length]);
      if (seq === scene.world.kernel.head.seq) break;
    }
    expect(frames).toStrictEqual([[1, 6]]);
    await scene.world.verify();
  });

  it('agents stand at most eight deep, and only an entity or one above it registers below it [SOC-4]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    let parent = ann;
    const ids: string[] = [];
    for (let depth = 0; depth < 8; depth++) {
      ids.push(await agentOf(parent));
      parent = scene.office.entity(ids.at(-1) as string);
    }
    expect(await refusedWith(agentOf(parent))).toBe('depth_exceeded');
    const below = await ann.register({
      agentType: 'custom',
      displayName: 'Below',
      capabilities: {},
      parentEntityId: ids[2],
    } as never);
    expect((await scene.office.entity(ids[2] as string).agents()).items.map(({ agent_id }) => agent_id)).toContain(
      below.agent_id,
    );
    const beside = await scene.office.human('bob');
    expect(
      await refusedWith(
        beside.use('agent_register', {
          parent_entity_id: ids[0],
          agent_type: 'custom',
          display_name: 'Foreign',
          capabilities: {},
        } as never),
      ),
    ).toBe('agent_unknown');
  });

  it('an agent that may hand on a tool and not call it has sessions that may not call it, and an agent below that may [CAP-4]', async () => {
    const { tool, state } = hangingTool();
    const agent = agentWith([tool]);
    const call = { calls: [{ tool: 'hang', args: {} }] };
    await using scene = await openOffice({ agents: [agent], steps: [call, { text: 'It was denied.' }, call] });
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann, { tools: ['agent_*'] }, { grant: { tools: ['hang'] } });
    const leader = scene.office.entity(lead);
    expect(await (await leader.send(agent, 'Go.')).text()).toBe('It was denied.');
    expect(state.hanging).toBe(0);
    const below = await agentOf(leader, { tools: ['hang'] });
    await scene.office.entity(below).send(agent, 'Go.');
    while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
    const holder = `cell:aos.agent/SessionReducer@1/${lead}/worker` as const;
    const { exercise } = (await scene.world.kernel.rights(holder)).effective ?? {};
    expect([exercise?.may.tool, exercise?.may.mem_read, exercise?.may.mem_write]).toStrictEqual([['agent_*'], [], []]);
    await ann.capabilities(lead, { capabilities: { tools: ['agent_*', 'hang'] } });
    expect((await scene.world.kernel.rights(holder)).effective?.exercise.may.tool).toStrictEqual(['agent_*', 'hang']);
    await scene.world.verify();
  });
});

describe('given a call that the gate denies', () => {
  it('the detail of a denial names the first check that fails, for calls of clients and of models alike [CAP-10]', async () => {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    await using scene = await openOffice({ agents: [worker], steps: [{ calls: [{ tool: 'hang', args: {} }] }] });
    const ann = await scene.office.human('ann');
    const only = { memory_read: GROUPS(['team']), memory_write: GROUPS(['team']) };
    const text = { type: 'note' as const, content: 'A text.', visibility: 'group' as const };
    const read = (agent: string, group: string) => scene.office.entity(agent).use('memory_read_warm', { group });
    const detail = async (call: Promise<unknown>) =>
      call.then(
        () => 'done',
        (error: { readonly details: { readonly actual: { readonly detail?: string } } }) => error.details.actual.detail,
      );
    const narrow = await agentOf(ann, { ...only, tools: ['memory_read_*'] });
    expect(await detail(read(narrow, 'other'))).toBe('group');
    expect(await detail(read(narrow, 'team'))).toBe('visibility');
    expect(await detail(scene.office.entity(narrow).use('memory_write_warm', { ...text, group: 'other' }))).toBe(
      'tool',
    );
    expect(await detail(scene.office.entity(narrow).agents())).toBe('tool');
    const busy = await agentOf(ann, { max_parallel_ops: 1 });
    await scene.office.entity(busy).send(worker, 'Go.');
    while (state.hanging === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await detail(scene.office.entity(busy).agents())).toBe('parallel');
    expect(await detail(read(busy, 'team'))).toBe('parallel');
    await scene.world.verify();
  });
});
