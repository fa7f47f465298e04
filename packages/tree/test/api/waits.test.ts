/** What trees wait for, in the API and in the view: an approval, an answer, the end of a pause, other nodes. */
import { type AgentWorld, deferred, defineAgent, defineOwnerTool, defineTool, type Tool } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DESK, officeOf, parkingDesk } from '../../../agent/test/tools/desk.js';
import { endsFromOutside, type Tree, TreeFold, type TreeWait, waitsOf } from '../../src/index.js';
import { call, calls, complete, forest } from './forest.js';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.object({ n: z.int() }),
  guarantee: 'at_most_once',
  approval: 'always',
  run: ({ n }) => `paid ${n}`,
});
const payer = defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [pay] });

const office = officeOf(parkingDesk, 'tree/Tree@1');

/** What the view of another process says. */
async function seenFromOutside({ kernel }: AgentWorld, name: string): Promise<readonly TreeWait[]> {
  const fold = new TreeFold();
  for await (const { seq: frame, at, records } of kernel.frames(0)) {
    for (const record of records) fold.take(record, { frame, at });
    if (frame >= kernel.head.seq) break;
  }
  const tree = fold.trees.get(name);
  return tree === undefined ? [] : waitsOf(tree);
}

/** What a tree waits for once nothing goes on by itself: the same by its handle and by the view. */
async function waitsAt(world: AgentWorld, tree: Tree): Promise<readonly TreeWait[]> {
  await world.pump();
  const waits = await tree.waits();
  expect(await seenFromOutside(world, tree.name)).toEqual(waits);
  return waits;
}

describe('what a tree waits for', () => {
  it('a tree says that it waits for an approval, in which session, and for nothing once it was given [TREE-61]', () =>
    forest(
      ({ step }) => (step === 0 ? call('pay', { n: 3 }) : complete('done')),
      async ({ world, trees }) => {
        const tree = await trees.start('t', { goal: 'Pay', agent: payer });
        expect(await waitsAt(world, tree)).toEqual([{ kind: 'approval', node: 1, session: 't/1' }]);
        const [item] = await world.pending();
        await world.decide(item?.id ?? '', { approve: true }, { as: 'human:ann' });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(await waitsAt(world, tree)).toEqual([]);
      },
      { others: [payer] },
    ));

  it('a tree names each node that waits: for people, for a node, for what it needs, for its children, and for the end of a pause [TREE-61]', () =>
    forest(
      ({ n, run, step }) => {
        if (n === 1 && run === 0 && step === 0)
          return calls(['spawn', { goal: 'a', prompt: 'A' }], ['spawn', { goal: 'b', prompt: 'B', blocked_by: [2] }]);
        if (n === 1) return run === 0 ? { text: 'I wait.' } : complete('all');
        return n === 2 && step === 0 ? call('ask', { question: 'Which?' }) : complete('a result');
      },
      async ({ world, trees }) => {
        const tree = await trees.start('t', { goal: 'Go' });
        const asks: TreeWait = { kind: 'question', node: 2, ask: 4, of: [], until: null };
        const others: readonly TreeWait[] = [
          { kind: 'children', node: 1, on: [2, 3] },
          { kind: 'dependency', node: 3, on: [2] },
        ];
        expect(await waitsAt(world, tree)).toEqual([others[0], asks, others[1]]);
        await tree.pause(3);
        const waits = await waitsAt(world, tree);
        expect(waits).toEqual([others[0], asks, { kind: 'pause', node: 3 }, others[1]]);
        expect(waits.filter(endsFromOutside).map(({ kind }) => kind)).toEqual(['question', 'pause']);
        await tree.answer(4, 'this');
        expect(await waitsAt(world, tree)).toEqual([
          { kind: 'children', node: 1, on: [3] },
          { kind: 'pause', node: 3 },
        ]);
        await tree.resume(3);
        expect(await tree.result()).toMatchObject({ status: 'complete' });
      },
    ));

  it('a tree that was not started waits for nothing', () =>
    forest(
      () => complete('x'),
      async ({ trees }) => expect(await trees.tree('none').waits()).toEqual([]),
    ));
});

describe('what the session of a node waits for', () => {
  const args = z.strictObject({});
  const inquire = defineTool({ name: 'inquire', description: 'Asks.', args, run: () => deferred() });
  const look = defineTool({ name: 'look', description: 'Looks.', args, run: () => 'Seen.' });
  const price = defineOwnerTool({ name: 'price', description: 'Asks the desk.', args });
  const agentWith = (tool: Tool, more: object = {}) =>
    defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.', tools: [tool], ...more });

  const clerk = agentWith(inquire);

  it('a node whose tool asked a person waits for a person [TREE-61]', () =>
    forest(
      ({ step }) => (step === 0 ? call('inquire', {}) : complete('done')),
      async ({ world, trees }) => {
        const tree = await trees.start('t', { goal: 'Ask', agent: clerk });
        expect(await waitsAt(world, tree)).toEqual([{ kind: 'person', node: 1, session: 't/1' }]);
      },
      { others: [clerk] },
    ));

  it('a node whose session reached a limit waits for another one [TREE-61]', () => {
    const limited = agentWith(look, { limits: { steps: 1, on: 'pause_and_ask' } });
    return forest(
      ({ step }) => (step === 0 ? call('look', {}) : complete('done')),
      async ({ world, trees }) => {
        const tree = await trees.start('t', { goal: 'Look', agent: limited });
        expect(await waitsAt(world, tree)).toEqual([{ kind: 'limit', node: 1, session: 't/1' }]);
      },
      { others: [limited] },
    );
  });

  it('a node whose call a cell of the app passes to another party waits for the app [TREE-61]', () => {
    const buyer = agentWith(price);
    return forest(
      ({ step }) => (step === 0 ? call('price', {}) : complete('done')),
      async ({ world, trees }) => {
        await world.kernel.request(DESK, { name: 'test/Open@1', value: {} });
        const tree = await trees.start('t', { goal: 'Buy', agent: buyer });
        expect(await waitsAt(world, tree)).toEqual([{ kind: 'app', node: 1, session: 't/1' }]);
      },
      { others: [buyer], calls: DESK, parts: [office] },
    );
  });
});
