/** Trees whose nodes are programs: real processes, each with the tools of its node. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type AnyAgent, appOf } from '@reprise/agent';
import { memory, verifyStore } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../../scripts/lib/program.js';
import { relay } from '../../../reprise/src/external.js';
import { type AgentWorld, openWorld } from '../../../reprise/src/index.js';
import { type Tree, type Trees, trees } from '../../src/index.js';
import { bridge } from '../../src/serve/index.js';
import { caller, ownRuntime } from './stage.js';

process.env.CALLER_BRIDGE = await program(new URL('./bridge-program.ts', import.meta.url));

let runtime = '';

beforeEach(() => {
  runtime = ownRuntime();
});

/** What a program does, by texts that the first line `node N` and its prompt hold. */
type Plan = readonly (readonly [when: readonly string[], script: readonly object[]])[];

async function grow(
  plan: Plan,
  act: (given: { world: AgentWorld; forest: Trees; agent: AnyAgent; errors: string[] }) => Promise<void>,
): Promise<void> {
  const file = path.join(runtime, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const link = bridge();
  const agent = caller(link, 'caller', { CALLER_PLAN: file });
  const part = trees({ agents: [agent], bridge: link });
  const store = memory();
  const errors: string[] = [];
  const onError = (error: unknown) => void errors.push(String(error));
  const world = await openWorld({ store, models: { relay: relay() }, parts: [part], onError });
  try {
    await act({ world, forest: world.part(part), agent, errors });
  } finally {
    await world.close();
  }
  const reader = await store.openReadonly();
  expect((await verifyStore(reader, { app: appOf([trees({ agents: [agent] })]) })).unverified).toBe(0);
  await reader.close();
}

const spawn = (goal: string, more: object = {}) => ({ call: 'spawn', args: { goal, prompt: `${goal}!`, ...more } });
const complete = (result: unknown) => ({ call: 'complete', args: { result } });

const rows = async (tree: Tree) =>
  (await tree.nodes()).map(({ n, type, status, code }) => `${n} ${type} ${status}${code === null ? '' : ` ${code}`}`);

describe('a tree of programs', () => {
  it('programs list nine tools, decompose, ask a person, and synthesize', async () => {
    const listed = path.join(runtime, 'listed');
    const plan: Plan = [
      [['node 1', 'Results of your children', 'done by #3'], [complete('all of it')]],
      [['node 1'], [{ list: true }, { save: listed }, spawn('one'), spawn('two', { blocked_by: [2] })]],
      [
        ['node 2'],
        [{ call: 'ask', args: { question: 'Keep it?', options: ['yes', 'no'], target: 'human' } }, complete('kept')],
      ],
    ];
    await grow(plan, async ({ forest, errors }) => {
      const tree = await forest.start('work', { goal: 'Do it' });
      await expect.poll(async () => (await tree.asks()).length).toBe(1);
      const [ask] = await tree.asks();
      expect(ask).toMatchObject({ asker: 2, question: expect.stringContaining('Keep it?') });
      expect(await tree.answer(ask?.ask ?? 0, 'yes', { as: 'human:ann' })).toMatchObject({ status: 'applied' });
      expect(await tree.result()).toMatchObject({ status: 'complete', text: 'all of it' });
      expect(await rows(tree)).toEqual(['1 goal complete', '2 spawn complete', '3 spawn complete', '4 ask complete']);
      const root = await tree.node(1);
      expect(root?.launches.map(({ session }) => session)).toEqual(['work/1', 'work/1']);
      expect(JSON.parse(readFileSync(listed, 'utf8'))).toEqual([
        { tools: ['read_tree', 'read_node', 'spawn', 'fork', 'serial', 'complete', 'ask', 'answer', 'stop'] },
      ]);
      expect(errors).toEqual([]);
    });
  });

  it('a program makes a node once however often it sends the call [TREE-38]', async () => {
    const plan: Plan = [
      [['node 1', 'Results of your children'], [complete('done')]],
      [['node 1'], [{ ...spawn('one'), id: 7, times: 1_000 }]],
    ];
    await grow(plan, async ({ forest }) => {
      const tree = await forest.start('once', { goal: 'Do it' });
      expect(await tree.result()).toMatchObject({ status: 'complete' });
      expect(await rows(tree)).toEqual(['1 goal complete', '2 spawn complete']);
    });
  });

  it('a program that exits otherwise than 0 gives no result, and its attempt is repeated [TREE-20]', async () => {
    const plan: Plan = [[['node 1'], [{ die: true }]]];
    await grow(plan, async ({ forest }) => {
      const tree = await forest.start('dies', { goal: 'Do it', limits: { attempts: 2 } });
      expect(await tree.result()).toMatchObject({ status: 'failed' });
      expect((await tree.node(1))?.launches).toHaveLength(2);
    });
  });
});
