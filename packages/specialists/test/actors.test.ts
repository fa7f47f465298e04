/** Who acted on a project: recorded for each command and each call, and told to the reader of the tasks. */
import type { Actor } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { type PlannedTask, skill, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { COORDINATOR, calls, IDENTITY, played, type Role, says } from './support/roles.js';
import { BRIEF } from './support/workflow.js';

const worker = skill({ name: 'worker', description: 'Works', tools: [], body: 'Work.' });

async function open(roles: Readonly<Record<string, Role>>) {
  const { model, asked } = played(roles);
  const dev = team({ name: 'dev', skills: [worker], tools: [], coordinator: { model: 'main', identity: IDENTITY } });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
  return { world, asked, project: world.part(dev).project('p') };
}

function task(key: string, blockedBy: PlannedTask['blockedBy'] = []): PlannedTask {
  return { key, title: `Do ${key}`, context: BRIEF(key), skill: 'worker', blockedBy };
}

/** The acts on a project as its journal states them. */
async function actsIn({ kernel }: Awaited<ReturnType<typeof open>>['world']) {
  const acts: { act: string; task: number | null; reason?: string; by: Actor }[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records)
      if (record.kind === 'fact' && record.name === 'specialists/Acted@1') acts.push(record.value as never);
    if (seq >= kernel.head.seq) break;
  }
  return acts;
}

const ANN = { kind: 'person', id: 'ann' } as const;
const NIGHTLY = { kind: 'program', id: 'nightly' } as const;
const RULE = { kind: 'rule', id: 'stale', granted_by: 'ann' } as const;

describe('who acted on a project', () => {
  it('each command states who gave it, and why: a person, a program, a rule, or the operator [SPEC-44]', async () => {
    const { project, world } = await open({ [COORDINATOR]: () => [says('Yes.')], worker: () => [says('Done.')] });
    await project.plan(
      ['a', 'b', 'c'].map((key) => task(key)),
      { id: 'plan' },
    );
    await project.skip(1, 'not needed', { as: 'human:ann' });
    await project.cancel(2, 'too old', { as: 'human:ann', actor: RULE });
    await project.cancel('all', 'enough', { actor: NIGHTLY });
    const operator = { kind: 'program', id: 'operator' };
    expect(await actsIn(world)).toEqual([
      { act: 'plan', task: null, by: operator },
      { act: 'skip', task: 1, reason: 'not needed', by: ANN },
      { act: 'cancel', task: 2, reason: 'too old', by: RULE },
      { act: 'cancel', task: null, reason: 'enough', by: NIGHTLY },
    ]);
    expect((await project.tasks()).map(({ status, ended_by }) => [status, ended_by])).toEqual([
      ['skipped', ANN],
      ['cancelled', RULE],
      ['cancelled', NIGHTLY],
    ]);
    await world.close();
  });

  it('a command that is refused states no act [SPEC-44]', async () => {
    const { project, world } = await open({ worker: () => [says('Done.')] });
    await project.plan([task('a')], { id: 'plan' });
    await project.skip(1, 'first', { as: 'human:ann' });
    const before = await actsIn(world);
    await project.skip(1, 'second', { as: 'human:bob' });
    expect(await actsIn(world)).toEqual(before);
    await world.close();
  });

  it('a task that the coordinator skips is recorded as an act of its agent, and one that a person cancels is told to it as that [SPEC-44]', async () => {
    const coordinator: Role = () => [
      calls('task_skip', { task_id: 1, reason: 'It is done elsewhere.' }),
      calls('task_graph', {}),
      says('Noted.'),
    ];
    const { project, world, asked } = await open({ [COORDINATOR]: coordinator, worker: () => [says('Done.')] });
    await project.plan([task('a'), task('b')], { id: 'plan' });
    await project.cancel(2, 'no', { as: 'human:ann' });
    await (await project.send('Go on.', { id: 'm' })).text();
    const node = { kind: 'node', id: 'p/coordinator' };
    const skipped = (await actsIn(world)).find(({ act }) => act === 'skip');
    expect(skipped).toEqual({ act: 'skip', task: 1, reason: 'It is done elsewhere.', by: node });
    const read = asked.map(({ request }) => JSON.stringify(request.messages)).join('\n');
    expect(read).toContain('ann (a person)');
    expect(read).toContain('node p/coordinator');
    await world.close();
  });
});
