/** What holds for every tree, in real worlds: order, failures, answers, authority and limits. */
import { AGENT_POLICY, readText } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { TREE, type Tree } from '../../src/index.js';
import { type Answers, call, calls, complete, type Forest, forest } from './forest.js';

const spawn = (goal: string, more: object = {}) => ['spawn', { goal, prompt: `Do ${goal}.`, ...more }] as const;

/** The root makes nodes in its first run, and completes in its second; the others as stated. */
const makes =
  (made: readonly (readonly [string, object])[], others: Answers = ({ n }) => complete(`result of ${n}`)): Answers =>
  (one) => {
    if (one.n !== 1) return others(one);
    return one.run === 0 && one.step === 0 ? calls(...made) : one.run === 0 ? { text: 'made' } : complete('all');
  };

const launches = async ({ world }: Forest): Promise<string[]> => {
  const found: string[] = [];
  for await (const { records } of world.kernel.frames(0)) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== 'tree/Launched@1') continue;
      const { n, phase } = record.value as { n: number; phase: string };
      found.push(`${n} ${phase}`);
    }
    if (records.some((record) => record.kind === 'fact' && record.name === 'tree/Ended@1')) break;
  }
  return found;
};

const resultOf = async (world: Forest['world'], tree: Tree, n: number): Promise<string> => {
  const given = (await tree.node(n))?.result;
  if (given === undefined || given === null) throw new Error(`node ${n} has no result`);
  return readText(world.kernel.content, given.ref);
};

const states = async (tree: Tree) => (await tree.nodes()).map(({ n, status, code }) => `${n} ${status} ${code ?? ''}`);

describe('the order of nodes', () => {
  it('nodes begin by priority and then by number, as many at once as there are slots [TREE-3]', () =>
    forest(
      makes([spawn('a'), spawn('b', { priority: 5 }), spawn('c', { priority: 5 }), spawn('d', { blocked_by: [2] })]),
      async (all) => {
        const tree = await all.trees.start('order', { goal: 'top', limits: { parallel: 1 } });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(await launches(all)).toEqual(['1 work', '3 work', '4 work', '2 work', '5 work', '1 synthesis']);
      },
    ));

  it('a child begins and ends while the run of its parent is under way, and the parent is synthesized after that run [TREE-5, TREE-10]', () =>
    forest(
      (one) => {
        if (one.n !== 1) return complete('early');
        if (one.run > 0) return complete('all');
        if (one.step === 0) return calls(spawn('a'));
        return one.step < 4 ? call('read_node', { node_id: 2 }) : { text: 'made' };
      },
      async (all) => {
        const tree = await all.trees.start('early', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(all.asked.filter(({ n }) => n === 1).some(({ last }) => last.includes('"status":"complete"'))).toBe(
          true,
        );
        expect(await launches(all)).toEqual(['1 work', '2 work', '1 synthesis']);
      },
    ));

  it('a node that would wait for itself is refused with the path [TREE-6]', () =>
    forest(
      (one) => {
        if (one.n === 1)
          return one.run === 0 && one.step === 0 ? calls(spawn('a'), spawn('b', { blocked_by: [2] })) : complete('x');
        if (one.n === 2 && one.run === 0)
          return one.step === 0 ? calls(spawn('below', { blocked_by: [3] })) : complete(one.last);
        return complete('y');
      },
      async ({ trees, world }) => {
        const tree = await trees.start('circle', { goal: 'top' });
        await tree.result();
        expect(await resultOf(world, tree, 2)).toContain('"code":"would_deadlock"');
        expect(await resultOf(world, tree, 2)).toContain('"path":[3,2]');
      },
    ));

  it('a node runs again once for each generation of its children, with their outcomes [TREE-7, TREE-8]', () =>
    forest(
      (one) => {
        if (one.n !== 1) return complete(`result of ${one.n}`);
        if (one.run < 2) return one.step === 0 ? calls(spawn(`part ${one.run}`), ['complete', {}]) : { text: 'made' };
        return complete('all');
      },
      async (all) => {
        const tree = await all.trees.start('twice', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(await launches(all)).toEqual(['1 work', '2 work', '1 synthesis', '3 work', '1 synthesis']);
        expect(all.asked.at(-1)?.prompt).toContain('result of 3');
      },
    ));
});

describe('ends', () => {
  it('a node that needs a failed one fails, and one whose edge states `continue` receives the failure [TREE-12]', () =>
    forest(
      makes(
        [
          spawn('a'),
          spawn('b', { blocked_by: [2] }),
          spawn('c', { blocked_by: [{ node: 2, on_failure: 'continue' }] }),
        ],
        ({ n }) => (n === 2 ? { fail: 'provider_error_terminal/down' } : complete(`result of ${n}`)),
      ),
      async ({ trees, asked }) => {
        const tree = await trees.start('edges', { goal: 'top', limits: { attempts: 1 } });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(await states(tree)).toEqual([
          '1 complete ',
          '2 failed provider_error_terminal/down',
          '3 failed blocked_failed',
          '4 complete ',
        ]);
        expect(asked.find(({ n }) => n === 4)?.prompt).toContain('#2 "a" failed (provider_error_terminal/down)');
      },
    ));

  it('a result that was accepted stands when the run fails afterwards [TREE-21]', () =>
    forest(
      (one) => (one.step === 0 ? call('complete', { result: 'it holds' }) : { fail: 'provider_error_terminal/late' }),
      async ({ trees }) => {
        const tree = await trees.start('late', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ status: 'complete', text: 'it holds' });
      },
      { endsAccepted: false },
    ));

  it('an end of a run that was replaced changes nothing but what was spent [TREE-11, TREE-24]', () =>
    forest(
      makes([spawn('a')], ({ run }) => (run === 0 ? call('ask', { question: 'go on?' }) : complete('again'))),
      async ({ trees, world }) => {
        const tree = await trees.start('late', { goal: 'top' });
        await world.pump();
        await tree.stop(2);
        await tree.result();
        const before = await states(tree);
        await world.kernel.request(['aos.agent/SessionReducer@1', 'late/2'], {
          name: 'aos.agent/HostCommand@1',
          value: { command_id: 'late', command: { type: 'Cancel', scope: 'all' } },
        });
        await world.pump();
        expect(await states(tree)).toEqual(before);
        expect(before).toEqual(['1 failed all_children_failed', '2 cancelled stopped', '3 cancelled asker_ended']);
      },
    ));
});

describe('questions and slots', () => {
  it('a node that waits for an answer leaves its slot to another [TREE-27]', () =>
    forest(
      makes([spawn('a'), spawn('b')], (one) =>
        one.n === 2 && !one.last.includes('"status"')
          ? call('ask', { question: 'which?' })
          : complete(`result of ${one.n}`),
      ),
      async ({ trees, world }) => {
        const tree = await trees.start('slots', { goal: 'top', limits: { parallel: 1 } });
        await world.pump();
        expect((await tree.node(3))?.status).toBe('complete');
        expect(await world.kernel.state([TREE, 'slots'])).toMatchObject({ running: 0, asks: 1 });
        const [asked] = await tree.asks();
        await tree.answer(asked?.ask ?? 0, 'this one');
        expect(await tree.result()).toMatchObject({ status: 'complete' });
      },
    ));

  it('an answer that is not an option, and one from a node that was not asked, are refused [TREE-28]', () =>
    forest(
      makes([spawn('a'), spawn('b', { blocked_by: [2] })], (one) => {
        if (one.n === 2)
          return one.last.includes('"status"')
            ? complete('ok')
            : call('ask', { question: 'which?', options: ['x', 'y'] });
        return one.step === 0 ? call('answer', { ask_id: 4, value: 'x' }) : complete(one.last);
      }),
      async ({ trees, world }) => {
        const tree = await trees.start('options', { goal: 'top' });
        await world.pump();
        expect(await tree.answer(4, 'z')).toEqual({ status: 'rejected', code: 'not_an_option' });
        expect(await tree.answer(4, 'y', { as: 'human:ann' })).toMatchObject({ status: 'applied' });
        expect(await tree.answer(4, 'x')).toEqual({ status: 'already_settled', actor: { kind: 'person', id: 'ann' } });
        await tree.result();
        expect(await resultOf(world, tree, 3)).toContain('not_asked');
      },
    ));

  it('an answer after a restart reaches the call of the node that asked, once [TREE-26]', async () => {
    const store = memory();
    const answers = makes([spawn('a')], (one) =>
      one.last.includes('"status":"answered"') ? complete('ok') : call('ask', { question: 'which?' }),
    );
    await forest(
      answers,
      async ({ trees, world }) => {
        await trees.start('restart', { goal: 'top' });
        await world.pump();
      },
      { store, goesOn: true },
    );
    await forest(
      answers,
      async ({ trees, asked }) => {
        const tree = trees.tree('restart');
        const [open] = await tree.asks();
        expect(await tree.answer(open?.ask ?? 0, 'this', { id: 'answer' })).toMatchObject({ status: 'applied' });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(asked.filter(({ n, last }) => n === 2 && last.includes('"status":"answered"'))).toHaveLength(1);
      },
      { store },
    );
  });
});

describe('authority and budgets', () => {
  it('a node stops what is below it, and neither itself, a sibling nor its parent [TREE-29]', () =>
    forest(
      makes([spawn('a'), spawn('b')], (one) =>
        one.step === 0
          ? calls(['stop', { node_id: 1 }], ['stop', { node_id: one.n }], ['stop', { node_id: one.n === 2 ? 3 : 2 }])
          : complete(one.last),
      ),
      async ({ trees, asked }) => {
        const tree = await trees.start('place', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        const told = asked
          .filter(({ n, step }) => n === 2 && step === 1)[0]
          ?.request.messages.filter(({ role }) => role === 'tool');
        expect(told?.map(({ text }) => text.includes('not_your_subtree'))).toEqual([true, true, true]);
      },
    ));

  it('a child is given at most the budget of its parent [TREE-31]', () =>
    forest(
      (one) => {
        if (one.n !== 1) return complete('ok');
        if (one.run > 0) return complete('all');
        return one.step === 0
          ? calls(spawn('a', { budget_tokens: 500_000 }), spawn('b', { budget_tokens: 90_000 }), spawn('c'))
          : { text: 'made' };
      },
      async ({ trees, asked }) => {
        const tree = await trees.start('budget', { goal: 'top', budget: { node: { tokens: 200_000 } } });
        await tree.result();
        const told = asked
          .find(({ n, step }) => n === 1 && step === 1)
          ?.request.messages.filter(({ role }) => role === 'tool');
        expect(told?.[0]?.text).toContain('over_budget');
        expect((await tree.nodes()).map(({ n, budget }) => [n, budget])).toEqual([
          [1, 200_000],
          [2, 90_000],
          [3, 200_000],
        ]);
      },
    ));

  it('a node is warned once at 80 and once at 95 percent of its budget [TREE-47]', () =>
    forest(
      ({ step }) => {
        // Small steps near the end: a step is not begun when it may need more than is left.
        const tokens = [...Array<number>(8).fill(100_000), 40_000, 40_000, 30_000, 20_000, 20_000][step];
        const usage = { tokens_in: 0, tokens_out: tokens ?? 10 };
        return { ...(tokens === undefined ? complete('done') : call('read_tree', { after: step })), usage };
      },
      async ({ trees, asked }) => {
        const tree = await trees.start('warned', { goal: 'top', budget: { node: { tokens: 1_000_000 } } });
        await tree.result();
        const warned = (level: number) =>
          asked.at(-1)?.request.messages.filter(({ text }) => text.includes(`used ${level} percent`)).length;
        expect([warned(80), warned(95)]).toEqual([1, 1]);
      },
    ));
});

describe('a policy that denies the input of a node', () => {
  it.each([
    ['of the first attempt ends that attempt only', ['survey/1'], ['complete', undefined]],
    ['of all attempts ends the tree with the denial', ['survey/1', 'survey/1~2'], ['failed', 'session/policy_denied']],
  ] as const)('a denial of the input %s [TREE-8]', async (_, sessions, expected) => {
    const deny = sessions.map((key) => {
      const send = `aos.agent/SessionReducer@1/${key}#aos.agent/AgentAdopted@1`;
      return { send, decision: 'deny' } as const;
    });
    await forest(
      () => complete('done'),
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top', limits: { attempts: 2 } });
        const { status, code } = await tree.result();
        expect([status, code]).toEqual(expected);
      },
      { more: { policy: [...deny, ...AGENT_POLICY] } },
    );
  });
});
