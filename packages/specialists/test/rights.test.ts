/** What a project may do is what its agents may do, also while they work. */
import { defineAgent, defineTool, type WorldPart } from '@reprise/agent';
import { matchesNoEvent, type PolicyRule } from '@reprise/contracts';
import { senderRules } from '@reprise/kernel/define';
import { memory, openWorld } from 'reprise';
import { society } from 'reprise/society';
import { skill, team } from 'reprise/specialists';
import { trees } from 'reprise/tree';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { COORDINATOR, calls, IDENTITY, played, says } from './support/roles.js';

const HOLDER = 'cell:specialists/Project@1/p' as const;

const read = defineTool({
  name: 'Read',
  description: 'Reads.',
  args: z.strictObject({}),
  guarantee: 'idempotent',
  run: () => 'read',
});

describe('given a specialist whose tool is under way', () => {
  it('rights of the project that are narrowed end the tool before anything else happens, and the specialist is told [SPEC-1]', async () => {
    let begun = (): void => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const hang = defineTool({
      name: 'Hang',
      description: 'Takes very long.',
      args: z.strictObject({}),
      run: async (_, { signal }) => {
        begun();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'stopped';
      },
    });
    const { model, asked } = played({
      [COORDINATOR]: (said) =>
        said.includes('Go.')
          ? [calls('spawn_agent', { task: 'Hang.', skill: 'worker' }), says('Begun.')]
          : [says('Noted.')],
      worker: () => [calls('Hang', {}), says('It was taken from me.')],
    });
    const dev = team({
      name: 'dev',
      skills: [skill({ name: 'worker', description: 'Works', tools: ['Hang'], body: 'Work.' })],
      tools: [hang],
      coordinator: { model: 'main', identity: IDENTITY },
    });
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
    const project = world.part(dev).project('p');
    await (await project.send('Go.')).result();
    await isBegun;
    const { seq } = await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: [] } } });
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(await project.output(1)).toBe('It was taken from me.');
    const ended: unknown[] = [];
    for await (const { seq: at, records } of world.kernel.frames(seq)) {
      for (const record of records) if (record.kind === 'settled' && at === seq) ended.push(record.code);
      if (at === world.kernel.head.seq) break;
    }
    expect(ended).toEqual(['cap_denied/revoked']);
    expect(asked.filter(({ role }) => role === 'worker')).toHaveLength(2);
  });
});

/** A team whose coordinator spawns the skill `reader` for each message that begins with `Go`, in whatever way. */
async function openReaders(args: object) {
  const { model, asked } = played({
    [COORDINATOR]: (said) => (said.includes('Go') ? [calls('spawn_agent', args), says('Done.')] : [says('Noted.')]),
    reader: () => [calls('Read', {}), says('It was read.')],
  });
  const dev = team({
    name: 'dev',
    skills: [skill({ name: 'reader', description: 'Reads', tools: ['Read'], body: 'Read.' })],
    tools: [read],
    coordinator: { model: 'main', identity: IDENTITY },
  });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
  const answers = (): readonly string[] =>
    asked.flatMap(({ role, request: { messages, last } }) =>
      role === COORDINATOR && messages.at(-1)?.role === 'tool' ? [last] : [],
    );
  return { world, project: world.part(dev).project('p'), asked, answers };
}

const AD_HOC = { task: 'Read.', skill: 'reader' };

describe('given a world whose own rules permit nothing but effects of agents', () => {
  it('the rules of the parts suffice for a team, its jobs and its pool, and each of them can match an event', async () => {
    const { model } = played({
      [COORDINATOR]: (said) =>
        said.includes('Go') ? [calls('spawn_agent', AD_HOC), says('Begun.')] : [says('Noted.')],
      reader: () => [calls('Read', {}), says('It was read.')],
    });
    const dev = team({
      name: 'dev',
      skills: [skill({ name: 'reader', description: 'Reads', tools: ['Read'], body: 'Read.' })],
      tools: [read],
      coordinator: { model: 'main', identity: IDENTITY },
    });
    const node = defineAgent({ name: 'node', model: 'main', instructions: 'Work.' });
    const policy: PolicyRule[] = [
      { effect: 'llm.generate@2', decision: 'allow' },
      { effect: 'tool.call@1', decision: 'allow' },
    ];
    const parts = [dev, trees({ agents: [node] }), society()];
    await using world = await openWorld({ store: memory(), models: { main: model }, policy, parts });
    const project = world.part(dev).project('p');
    await (await project.send('Go.')).result();
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(await project.output(1)).toBe('It was read.');
    const rules = parts.flatMap(allRulesOf);
    expect(rules.filter((rule) => 'send' in rule).length).toBeGreaterThan(10);
    expect(rules.filter(matchesNoEvent)).toEqual([]);
  });
});

/** The rules of a part and of all parts that it uses. */
function allRulesOf({ policy = [], reducers = [], uses = [] }: WorldPart<unknown>): readonly PolicyRule[] {
  return [...policy, ...senderRules(reducers), ...uses.flatMap(allRulesOf)];
}

describe('given a project whose rights do not cover a tool', () => {
  it('a skill that lists the tool is refused at spawn, and the refusal changes nothing [SPEC-15]', async () => {
    const { world, project, asked, answers } = await openReaders(AD_HOC);
    await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: ['Write'] } } });
    await (await project.send('Go.')).result();
    expect((await project.idle({ within: '30s' })).status).toBe('open');
    expect(answers()[0]).toContain('tool_denied');
    expect(answers()[0]).toContain('the project may not use the tool Read');
    expect(await project.results()).toEqual([]);
    expect(await world.kernel.table(['specialists/Project@1', 'p'], 'jobs')).toEqual([]);
    expect(asked.filter(({ role }) => role === 'reader')).toEqual([]);
    // The skill is no longer offered.
    expect(JSON.stringify(asked[0]?.request)).not.toContain('reader — Reads');
    await world.close();
  });

  it('the spawn succeeds after the rights were widened', async () => {
    const { world, project, answers } = await openReaders(AD_HOC);
    await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: [] } } });
    await (await project.send('Go.')).result();
    await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: ['Re*'] } } });
    await (await project.send('Go again.')).result();
    await project.idle({ within: '30s' });
    expect(answers()).toHaveLength(2);
    expect(await project.output(1)).toBe('It was read.');
    await world.close();
  });

  it('a project that may call no tools at all refuses the spawn as well', async () => {
    const { world, project, answers } = await openReaders(AD_HOC);
    await world.kernel.command('sys/SetRights@1', {
      holder: HOLDER,
      exercise: { may: { effect: ['specialists.*', 'work.*', 'llm.generate@2'] } },
    });
    await (await project.send('Go.')).result();
    await project.idle({ within: '30s' });
    expect(answers()[0]).toContain('tool_denied');
    await world.close();
  });

  it('rights that are narrowed between the spawn and the preparation fail the job, and no model is asked for it', async () => {
    const { world, project, asked } = await openReaders(AD_HOC);
    await world.kernel.request(['flow/Queue@1', 'specialists/dev'], { name: 'flow/PauseQueue@1', value: {} });
    await (await project.send('Go.')).result();
    await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: [] } } });
    await world.kernel.request(['flow/Queue@1', 'specialists/dev'], { name: 'flow/ResumeQueue@1', value: {} });
    await project.idle({ within: '30s' });
    expect(await project.results()).toMatchObject([{ status: 'failed', code: 'adapter_error/tool_denied' }]);
    expect(asked.filter(({ role }) => role === 'reader')).toEqual([]);
    await world.close();
  });
});
