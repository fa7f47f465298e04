/** What people and apps do with trees: reading, stopping, pausing, retrying, adding, telling, budgets. */
import { type AnyAgent, defineAgent } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import type { ScriptStep } from '@reprise/providers';
import { describe, expect, it } from 'vitest';
import { TREE, type Tree } from '../../src/index.js';
import { type Answers, call, calls, complete, forest } from './forest.js';

const spawn = (goal: string, more: object = {}) => ['spawn', { goal, prompt: `Do ${goal}.`, ...more }] as const;

/** The root makes `a` and `b`; `b` needs `a`. Each node asks people first when its goal is named. */
const twoChildren =
  (asks: readonly number[] = [], more: (n: number) => ScriptStep | undefined = () => undefined): Answers =>
  ({ n, run, step, last }) => {
    if (n === 1 && run === 0) return step === 0 ? calls(spawn('a'), spawn('b', { blocked_by: [2] })) : { text: 'x' };
    const other = more(n);
    if (other !== undefined) return other;
    if (asks.includes(n) && !last.includes('"status":"answered"')) return call('ask', { question: `${n} asks` });
    return complete(`result of ${n}`);
  };

const states = async (tree: Tree) => (await tree.nodes()).map(({ n, status }) => `${n} ${status}`);

describe('reading trees', () => {
  it('trees are listed with their goal, state and number of nodes, the last changed first [TREE-44]', () =>
    forest(twoChildren(), async ({ trees, world }) => {
      await (await trees.start('one', { goal: 'first', labels: { team: 'red' } })).result();
      await trees.start('two', { goal: 'second' });
      await trees.tree('two').pause(1);
      await world.pump();
      const { items } = await trees.all();
      expect(items.map(({ name, goal, status, nodes }) => [name, goal, status, nodes])).toEqual([
        ['two', 'second', 'paused', 1],
        ['one', 'first', 'complete', 3],
      ]);
      expect((await trees.all({ status: 'complete' })).items.map(({ name }) => name)).toEqual(['one']);
      expect((await trees.all({ label: { team: 'red' } })).items.map(({ name }) => name)).toEqual(['one']);
      const { items: page, next } = await trees.all({ limit: 1 });
      expect(page.map(({ name }) => name)).toEqual(['two']);
      expect((await trees.all({ limit: 1, after: String(next) })).items.map(({ name }) => name)).toEqual(['one']);
      await trees.tree('two').resume(1);
      expect(await trees.tree('two').result()).toMatchObject({ status: 'complete' });
    }));

  it('a node is read with its prompt, needs, children, launches and result [TREE-45]', () =>
    forest(twoChildren(), async ({ trees }) => {
      const tree = await trees.start('survey', { goal: 'top' });
      await tree.result();
      const root = await tree.node(1);
      expect(root).toMatchObject({
        n: 1,
        type: 'goal',
        status: 'complete',
        children: [2, 3],
        needs: [],
        prompt: 'top',
      });
      expect(root?.launches.map(({ launch, phase, run, inputs }) => [launch, phase, run, inputs])).toEqual([
        [1, 'work', 0, []],
        [2, 'synthesis', 1, [2, 3]],
      ]);
      expect(root?.launches[1]?.prompt).toContain('result of 3');
      expect(await tree.node(3)).toMatchObject({
        needs: [{ node: 2, view: 'full', on_failure: 'block' }],
        given: { text: 'result of 3' },
        session: 'survey/3',
      });
      expect(await tree.node(4)).toBeUndefined();
      expect(await trees.tree('other').nodes()).toEqual([]);
      expect(await trees.tree('other').node(1)).toBeUndefined();
      await expect(trees.tree('other').result()).rejects.toThrow(/no tree "other"/);
    }));

  it('nodes are read in pages, and below one node', () =>
    forest(
      ({ n, run, step }) => {
        if (n === 1 && run === 0) return step === 0 ? calls(spawn('a'), spawn('b')) : { text: 'x' };
        if (n === 3 && run === 0) return step === 0 ? calls(spawn('c')) : { text: 'x' };
        return complete('r');
      },
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        await tree.result();
        const numbers = async (page: object) => (await tree.nodes(page)).map(({ n }) => n);
        expect(await numbers({ limit: 2 })).toEqual([1, 2]);
        expect(await numbers({ after: 2 })).toEqual([3, 4]);
        expect(await numbers({ under: 3 })).toEqual([3, 4]);
        expect(await numbers({ under: 1, after: 1, limit: 2 })).toEqual([2, 3]);
        expect(await numbers({ under: 2 })).toEqual([2]);
        await expect(tree.nodes({ undr: 2 } as never)).rejects.toThrow(/undr/);
      },
    ));

  it('events come in the order of the journal, and begin behind a frame [TREE-41]', () =>
    forest(twoChildren(), async ({ trees }) => {
      const tree = await trees.start('survey', { goal: 'top' });
      await tree.result();
      const all = [];
      for await (const event of tree.events({ follow: false })) all.push(event);
      expect(all[0]).toMatchObject({ type: 'started', tree: 'survey', goal: 'top' });
      expect(all.at(-1)).toMatchObject({ type: 'ended', status: 'complete' });
      const middle = all[Math.floor(all.length / 2)]?.frame ?? 0;
      const later = [];
      for await (const event of tree.events({ follow: false, after: middle })) later.push(event);
      expect(later).toEqual(all.filter(({ frame }) => frame > middle));
      for await (const event of tree.events()) if (event.type === 'ended') break;
    }));
});

describe('commands to a tree', () => {
  it('the same start again changes nothing, and another one under the name is refused', () =>
    forest(
      () => complete('r'),
      async ({ trees, world }) => {
        await trees.start('survey', { goal: 'top' });
        const tree = await trees.start('survey', { goal: 'top' });
        await tree.result();
        expect((await tree.nodes()).length).toBe(1);
        const other = trees.start('survey', { goal: 'another' });
        await expect(other).rejects.toThrow(/request_rejected: tree "survey" was not started: already_started/);
        for (const name of ['', 'Survey', 'a/b', 'x'.repeat(101)])
          await expect(trees.start(name, { goal: 'g' })).rejects.toThrow(/1 to 100 of a–z/);
        await expect(trees.start('x', { goal: ' \n' })).rejects.toThrow(/need a goal/);
        await expect(trees.start('x', { goal: 'g', budgt: 1 } as never)).rejects.toThrow(/budgt/);
        const long = 'ü'.repeat(150_001);
        await expect(trees.start('x', { goal: long })).rejects.toThrow(/too long for a node.*at most 300000 bytes/);
        await expect(trees.start('x', { goal: 'g', prompt: 7 } as never)).rejects.toThrow(/got "?number/);
        const labels = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`l${i}`, 'x'.repeat(200)]));
        await expect(trees.start('x', { goal: 'g', labels })).rejects.toThrow(/"labels".*at most 1536 bytes/);
        const stranger = defineAgent({ name: 'stranger', model: 'main', instructions: '' });
        await expect(trees.start('x', { goal: 'g', agent: stranger })).rejects.toThrow(/unknown_agent: .*"stranger"/);
        await expect(trees.start('x', { goal: 'g', returns: 'file' })).rejects.toThrow(/takes no files/);
        await expect(trees.start('x', { goal: 'g', limits: { depth: 0 } })).rejects.toThrow(/invalid limit "depth"/);
        expect(await world.kernel.state([TREE, 'x'])).toBeUndefined();
      },
    ));

  it('a goal of many lines is shortened to its first line, and all of it is the prompt [TREE-44]', () =>
    forest(
      () => complete('r'),
      async ({ trees }) => {
        const plan = `# Upgrade the parser\n\n${'Step. '.repeat(200)}`;
        const tree = await trees.start('survey', { goal: plan });
        await tree.result();
        expect(await tree.node(1)).toMatchObject({ goal: 'Upgrade the parser', prompt: plan });
        const long = await trees.start('long', { goal: 'ü'.repeat(400) });
        expect((await long.node(1))?.goal).toBe(`${'ü'.repeat(248)} …`);
        await long.result();
      },
    ));

  it('a stop ends a node and what is below it, once for each id, and an ended node is not stopped again [TREE-34]', () =>
    forest(twoChildren([2]), async ({ trees, world }) => {
      const tree = await trees.start('survey', { goal: 'top' });
      await world.pump();
      const done = await tree.stop(2, { id: 'stop', as: 'human:ann' });
      expect(done).toMatchObject({ status: 'accepted' });
      if (done.status === 'accepted') expect(done.affected).toEqual(expect.arrayContaining([2, 3, 4]));
      expect(await tree.stop(2, { id: 'stop', as: 'human:ann' })).toEqual(done);
      expect(await tree.stop(2)).toEqual({ status: 'rejected', code: 'already_ended' });
      expect(await tree.stop(99)).toEqual({ status: 'rejected', code: 'unknown_node' });
      expect(await trees.tree('other').stop(1)).toEqual({ status: 'rejected', code: 'not_started' });
      expect(await tree.result()).toMatchObject({ status: 'failed', code: 'all_children_failed' });
      expect(await states(tree)).toEqual(['1 failed', '2 cancelled', '3 failed', '4 cancelled']);
    }));

  it('a tree that is stopped at its root is cancelled, and goes on when its root is tried again', () =>
    forest(twoChildren([1]), async ({ trees, world }) => {
      const tree = await trees.start('survey', { goal: 'top' });
      await world.pump();
      await tree.stop(1);
      expect(await tree.result()).toMatchObject({ status: 'cancelled', code: 'stopped' });
      await world.pump();
      expect(await tree.retry(1, { fresh: true })).toMatchObject({ status: 'accepted' });
      const ended = tree.result();
      await world.pump();
      for (const { ask } of await tree.asks()) await tree.answer(ask, 'go on');
      expect(await ended).toMatchObject({ status: 'complete' });
      expect((await tree.node(1))?.session).toBe('survey/1~2');
    }));

  it('nothing begins below a paused node until it is resumed [TREE-4, TREE-35]', () =>
    forest(twoChildren([2]), async ({ trees, world }) => {
      const tree = await trees.start('survey', { goal: 'top' });
      await world.pump();
      expect(await tree.pause(1)).toMatchObject({ status: 'accepted' });
      await tree.answer(4, 'go on');
      await world.pump();
      expect((await tree.node(3))?.status).toBe('pending');
      await tree.resume(1);
      expect(await tree.result()).toMatchObject({ status: 'complete' });
    }));

  it('a node that failed is tried again with another agent, and its parent synthesizes again [TREE-36]', () => {
    const strong = defineAgent({ name: 'strong', model: 'main', instructions: 'You are strong.' });
    return forest(
      ({ request, ...one }) => {
        const isWeak = one.n === 2 && !request.system.includes('strong');
        if (isWeak) return { fail: 'provider_error_terminal/weak' };
        return twoChildren()({ request, ...one });
      },
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ status: 'failed', code: 'all_children_failed' });
        expect(await tree.retry(2, { agent: strong })).toEqual({ status: 'rejected', code: 'ancestor_ended' });
        expect(await tree.retry(1)).toMatchObject({ status: 'accepted' });
        await tree.pause(1);
        expect(await tree.retry(2, { agent: strong, id: 'r' })).toMatchObject({ status: 'accepted' });
        await tree.resume(1);
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(await states(tree)).toEqual(['1 complete', '2 complete', '3 complete']);
        expect((await tree.node(2))?.agent).toBe('strong');
      },
      { others: [strong as AnyAgent] },
    );
  });

  it('a node that is tried again has no result until its new run gives one [TREE-36]', () =>
    forest(
      ({ run, last }) => {
        if (run === 0) return complete('the old one');
        return last.includes('"status":"answered"') ? complete('the new one') : call('ask', { question: 'Sure?' });
      },
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ text: 'the old one' });
        await tree.retry(1);
        await world.pump();
        const open = await tree.node(1);
        expect([open?.status, open?.result, open?.given]).toEqual(['active', null, undefined]);
        for (const { ask } of await tree.asks()) await tree.answer(ask, 'yes');
        expect(await tree.result()).toMatchObject({ text: 'the new one' });
      },
    ));

  it('people add a child while the tree runs, change one that has not begun, and tell nodes something [TREE-42]', () =>
    forest(twoChildren([2]), async ({ trees, world, asked }) => {
      const tree = await trees.start('survey', { goal: 'top' });
      await world.pump();
      const spec = { goal: 'c', prompt: 'Do c.', blockedBy: [3], priority: 2, timeout: '1m' } as const;
      const { node } = await tree.add(1, spec, { id: 'add' });
      expect(await tree.add(1, spec, { id: 'add' })).toEqual({ node });
      expect(await tree.modify(node, { goal: 'changed', prompt: 'Do it otherwise.' })).toMatchObject({
        status: 'accepted',
      });
      expect(await tree.modify(2, { goal: 'x' })).toEqual({ status: 'rejected', code: 'is_active' });
      await tree.tell(node, 'Mind the gap.');
      await expect(tree.add(99, { goal: 'x' })).rejects.toThrow(/refused a node below #99: unknown_node/);
      await tree.answer(4, 'go on');
      expect(await tree.result()).toMatchObject({ status: 'complete' });
      const prompt = asked.find(({ n }) => n === node)?.prompt ?? '';
      expect(prompt).toContain('"changed" <- your task');
      expect(prompt).toContain('Do it otherwise.');
      expect(prompt).toContain('Mind the gap.');
      expect(prompt).toContain('result of 3');
      expect(await tree.node(node)).toMatchObject({ priority: 2, timeout_ms: 60_000, status: 'complete' });
    }));

  it('limits of a tree are changed while it runs', () =>
    forest(twoChildren([2]), async ({ trees, world }) => {
      const tree = await trees.start('survey', { goal: 'top', budget: { tree: { tokens: 9_000_000 } } });
      await world.pump();
      expect(await tree.limit({ nodes: 4 })).toMatchObject({ status: 'accepted' });
      await expect(tree.add(1, { goal: 'one more' })).rejects.toThrow(/limit_nodes/);
      await tree.limit({ nodes: 10 });
      expect((await tree.add(1, { goal: 'one more' })).node).toBe(5);
      expect(await tree.limit({ budget: { tokens: 8_000_000 } })).toMatchObject({ status: 'accepted' });
      await expect(tree.limit({ budget: { usd: 1 } })).rejects.toThrow(/another unit/);
      expect(await world.kernel.state([TREE, 'survey'])).toMatchObject({ budget: { tree: 8_000_000 } });
      await tree.answer(4, 'go on');
      await tree.result();
    }));

  it('a person who may not send to trees of others is refused, and an adapter always is', () =>
    forest(
      twoChildren([2]),
      async ({ trees, world }) => {
        const tree = await trees.start('acme-1', { goal: 'top' });
        await world.pump();
        expect(await tree.tell(2, 'hello', { as: 'human:ann' })).toMatchObject({ status: 'accepted' });
        await expect(tree.tell(2, 'hello', { as: 'human:bob' })).rejects.toThrow(/policy_denied/);
        await expect(tree.stop(1, { as: 'adapter:x' as never })).rejects.toThrow(/denied|invalid/);
        await tree.stop(1);
      },
      {
        more: {
          policy: [
            { send: `${TREE}/acme-*`, who: 'human:ann', decision: 'allow' },
            { send: `${TREE}/*`, who: 'human:*', decision: 'deny' },
            { effect: '*', decision: 'allow' },
          ],
        },
      },
    ));
});

describe('budgets', () => {
  const price = { in: 3, out: 15 };
  const use = { usage: { tokens_in: 1_000, tokens_out: 100 } };

  it('where all models have prices a node has two dollars, and use is counted in money [TREE-33]', () =>
    forest(
      () => ({ ...complete('r'), ...use }),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        const state = await world.kernel.state([TREE, 'survey']);
        expect(state).toMatchObject({ budget: { unit: 'micro_money', node: 2_000_000, tree: null, stated: false } });
        expect(await tree.result()).toMatchObject({ status: 'complete', spent: { tokens: 1_115, micro_money: 4_605 } });
      },
      { price },
    ));

  it('without prices a node has the tokens of its agent, and a budget in money is refused with what to do [TREE-33]', () => {
    const frugal = defineAgent({ name: 'frugal', model: 'main', instructions: '', limits: { tokens: 7_000 } });
    return forest(
      () => complete('r'),
      async ({ trees, world }) => {
        await trees.start('survey', { goal: 'top' });
        await trees.start('frugal', { goal: 'top', agent: frugal });
        expect(await world.kernel.state([TREE, 'survey'])).toMatchObject({ budget: { unit: 'tokens', node: 500_000 } });
        expect(await world.kernel.state([TREE, 'frugal'])).toMatchObject({ budget: { unit: 'tokens', node: 7_000 } });
        const refused = expect(trees.start('x', { goal: 'g', budget: { tree: { usd: 1 } } })).rejects;
        await refused.toThrow(
          /no_price: model main has no price.*Give the model a price \(price: \{ in, out \}\), or state a budget in tokens/s,
        );
        const mixed = { node: { tokens: 1 }, tree: { usd: 1 } };
        await expect(trees.start('x', { goal: 'g', budget: mixed })).rejects.toThrow(/two units/);
        for (const node of [{ usd: -1 }, { tokens: 0.5 }, {}, { usd: 1, tokens: 1 }])
          await expect(trees.start('x', { goal: 'g', budget: { node } as never })).rejects.toThrow(/invalid budget/);
        await trees.tree('survey').result();
        await trees.tree('frugal').result();
      },
      { others: [frugal as AnyAgent] },
    );
  });

  it('a model is offered the argument of its tree’s unit, and a node that exceeds its budget fails', () =>
    forest(
      ({ n, run, step, request }) => {
        const spawnTool = request.unified.tools?.find(({ name }) => name === 'spawn');
        if (spawnTool !== undefined) expect(JSON.stringify(spawnTool)).toContain('budget_usd');
        if (n === 1 && run === 0)
          return { ...(step === 0 ? calls(spawn('a', { budget_usd: 0.005 }), spawn('b')) : { text: 'x' }), ...use };
        if (n === 2) return { ...call('read_tree', {}), ...use };
        return { ...complete('r'), ...use };
      },
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top', budget: { node: { usd: 0.5 }, tree: { usd: 1 } } });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        const node = await tree.node(2);
        expect(node).toMatchObject({ status: 'failed', budget: 5_000 });
        expect(node?.code).toBe('max_cost');
      },
      { price },
    ));
});

describe('a node whose budget is used up', () => {
  it('a question to it goes on to people, and its children go on', () =>
    forest(
      ({ n, run, step, last }) => {
        if (n === 1 && run === 0)
          return {
            ...(step === 0 ? calls(spawn('a')) : { text: 'x' }),
            usage: { tokens_in: 100_000, tokens_out: 0 },
          };
        if (n === 2 && step === 0) return call('ask', { question: 'Which one?', target: 'parent' });
        return complete(last);
      },
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', budget: { node: { tokens: 100_000 } } });
        await world.pump();
        expect(await states(tree)).toEqual(['1 waiting_children', '2 active', '3 active']);
        expect(await tree.asks()).toMatchObject([{ ask: 3, asker: 2, route: [] }]);
        await tree.answer(3, 'the second');
        expect(await tree.result()).toMatchObject({ status: 'failed', code: 'max_cost' });
        expect((await tree.node(2))?.given?.text).toContain('the second');
      },
    ));
});

describe('a tree over several processes', () => {
  it('a tree goes on in another process where it stood, with the tools of its nodes', async () => {
    const store = memory();
    await forest(
      twoChildren([2]),
      async ({ trees, world }) => {
        await trees.start('survey', { goal: 'top' });
        await world.pump();
      },
      { store, goesOn: true },
    );
    await forest(
      twoChildren([2]),
      async ({ trees }) => {
        const tree = trees.tree('survey');
        expect(await states(tree)).toEqual(['1 waiting_children', '2 active', '3 pending', '4 active']);
        const [{ ask } = { ask: 0 }] = await tree.asks();
        await tree.answer(ask, 'go on');
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect((await tree.node(3))?.given?.text).toBe('result of 3');
      },
      { store },
    );
  });
});
