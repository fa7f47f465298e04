/** What a receiver is told of organizations: by their own facts, as their own schemas have them, and by a tree that is real. */
import { defineAgent, openAgentWorld } from '@reprise/agent';
import { type Address, FAULT_CODES, type JournalRecord } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { SWARM, swarmFacts } from '@reprise/society/contracts';
import { PROJECT, projectFacts } from '@reprise/specialists/contracts';
import { trees } from '@reprise/tree';
import { TREE, treeFacts } from '@reprise/tree/contracts';
import { describe, expect, it } from 'vitest';
import { Notices } from '../src/out/due.js';
import { Receiver } from './support/receiver.js';
import { newSecret, partFor } from './support/world.js';

const WORLD = 'w'.repeat(64);

function told(records: readonly object[]) {
  const frame = { seq: 7, at: 1_000, head: '', records: records as readonly JournalRecord[] };
  return new Notices(WORLD, []).in(frame).map(({ type, data }) => [type, data.status, data.code]);
}

const fact = (from: Address, name: string, value: unknown) => ({ kind: 'fact', c: 0, from, name, value });

describe('what a receiver is told of organizations', () => {
  it('a receiver is told of the ends of swarms and projects by their facts, and of no other change of them [HOOK-1]', () => {
    const swarm = swarmFacts['society/SwarmChanged@1'];
    const swarms = swarm.shape.status.options.map((status) =>
      fact(
        [SWARM, 'k'],
        'society/SwarmChanged@1',
        swarm.parse({ swarm_id: 'x', status, stage: 0, code: status === 'failed' ? 'a_code' : null }),
      ),
    );
    expect(told(swarms).sort()).toEqual([
      ['swarm.ended', 'archived', undefined],
      ['swarm.ended', 'disbanded', undefined],
      ['swarm.failed', 'failed', 'a_code'],
    ]);
    const { status } = projectFacts['specialists/ProjectChanged@1'].shape;
    const projects = status.options.map((one) =>
      fact([PROJECT, 'k'], 'specialists/ProjectChanged@1', { status: status.parse(one) }),
    );
    expect(told(projects).sort()).toEqual([
      ['project.ended', 'cancelled', undefined],
      ['project.ended', 'done', undefined],
    ]);
    const ended = treeFacts['tree/Ended@1'].shape.status.options.map((one) =>
      fact([TREE, 'k'], 'tree/Ended@1', { status: one, code: null }),
    );
    expect(
      told(ended)
        .filter(([, one]) => one === 'complete' || one === 'failed')
        .sort(),
    ).toEqual([
      ['tree.ended', 'complete', undefined],
      ['tree.failed', 'failed', undefined],
    ]);
  });

  it('a receiver is told of a cell that fails, but neither of a plan nor of an outbox [HOOK-1]', () => {
    const [code] = FAULT_CODES;
    const fault = (...target: unknown[]) => ({ kind: 'fault', c: 0, target, code });
    expect(told([fault('app/A@1', 'k'), fault('app/A@1', 'k', 3), fault('webhooks/Outbox@1', 'ops')])).toEqual([
      ['cell.failed', undefined, code],
    ]);
  });

  it('a receiver is told of the end of a tree, and not of each run of its nodes [HOOK-1]', async () => {
    const secret = newSecret();
    const ops = await Receiver.listen(secret);
    const hooks = partFor({ ops });
    const part = trees({ agents: [defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' })] });
    const model = scriptBy(({ last }) =>
      last.includes('"accepted":true')
        ? { text: 'Done.' }
        : { calls: [{ tool: 'complete', args: { result: 'the result' } }] },
    );
    const world = await openAgentWorld({
      ...{ store: memory(), agents: [], parts: [part, hooks], models: { main: {} }, secrets: async () => secret },
      llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
    });
    const tree = await world.part(part).start('t', { goal: 'the whole' }, { id: 'start' });
    expect(await tree.result()).toMatchObject({ status: 'complete' });
    await expect.poll(() => ops.received.length).toBe(1);
    expect(JSON.parse(ops.received[0]?.body ?? '')).toMatchObject({
      type: 'tree.ended',
      data: { cell: ['tree/Tree@1', 't'], status: 'complete' },
    });
    await expect.poll(async () => (await world.part(hooks).receiversNow())[0]?.delivered).toBe(1);
    await world.close();
    await ops.close();
  });
});
