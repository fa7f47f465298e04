/** Rights of nodes: what a node and all below it may do, also when it is narrowed while they work. */
import { type AgentWorld, type AnyAgent, defineAgent, defineTool } from '@reprise/agent';
import { type Capability, DIMENSIONS_MAX } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TREE } from '../../src/index.js';
import { type Answers, call, calls, complete, forest } from './forest.js';

const done: string[] = [];
const tool = (name: string, run: (signal: AbortSignal) => Promise<string> | string) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    args: z.object({}),
    guarantee: 'idempotent',
    run: async (_args, { signal }) => {
      const text = await run(signal);
      done.push(name);
      return text;
    },
  });
const hand: AnyAgent = defineAgent({
  name: 'hand',
  model: 'main',
  instructions: 'Work.',
  tools: [tool('look', () => 'seen'), tool('ship', () => 'shipped')],
});

const spawn = (goal: string, more: object = {}) => ['spawn', { goal, prompt: `Do ${goal}.`, ...more }] as const;
const may = (...tools: string[]): Capability => ({ may: { tool: tools } });

/** Each node calls both tools, and gives what it read as its result; `made` nodes make children first. */
function both(children: Readonly<Record<number, readonly string[]>> = {}): Answers {
  const seen = new Map<number, string[]>();
  return ({ n, run, step, last }) => {
    const goals = children[n] ?? [];
    if (run === 0 && goals.length > 0) return step === 0 ? calls(...goals.map((goal) => spawn(goal))) : { text: 'x' };
    const texts = seen.get(n) ?? [];
    seen.set(n, texts);
    if (step > 0) texts.push(last.includes('cap_denied') ? 'denied' : last);
    if (step === 0) return call('look', {});
    if (step === 1) return call('ship', {});
    return complete(texts.join(' '));
  };
}

const results = async (tree: {
  nodes(): Promise<readonly { n: number }[]>;
  node(n: number): Promise<{ given?: { text: string } } | undefined>;
}) => {
  const found: Record<number, string | undefined> = {};
  for (const { n } of await tree.nodes()) found[n] = (await tree.node(n))?.given?.text;
  return found;
};

/** The tool calls that are open, and how those of the last frame ended. */
async function toolCalls({ kernel }: AgentWorld): Promise<{ open: number; endedLast: string[] }> {
  const open = new Set<string>();
  let endedLast: string[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    endedLast = [];
    for (const record of records) {
      if (record.kind === 'effect' && record.name === 'tool.call@1') open.add(record.effect);
      if (record.kind === 'receipt') open.delete(record.effect);
      if (record.kind === 'settled' && open.delete(record.effect)) endedLast.push(`${record.by}: ${record.status}`);
    }
    if (seq >= kernel.head.seq) break;
  }
  return { open: open.size, endedLast };
}

describe('rights of nodes', () => {
  it('a node with rights calls only the tools that they permit, and so does every node below it [TREE-31, TREE-48]', () => {
    done.length = 0;
    return forest(
      both({ 1: ['a'], 2: ['b'] }),
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand, rights: may('look') });
        await tree.result();
        expect(await results(tree)).toEqual({ 1: 'seen denied', 2: 'seen denied', 3: 'seen denied' });
        expect(done).not.toContain('ship');
        expect((await tree.node(3))?.rights).toEqual(may('look'));
      },
      { others: [hand] },
    );
  });

  it('a child never has more rights than its parent, whatever it was given [TREE-31, TREE-48]', () =>
    forest(
      ({ n, ...rest }) =>
        n === 1 ? (rest.run === 0 ? call('ask', { question: 'go?' }) : complete('r')) : both()({ n, ...rest }),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand, rights: may('look') });
        await world.pump();
        await tree.add(1, { goal: 'more', agent: hand, rights: may('look', 'ship') });
        await tree.add(1, { goal: 'less', agent: hand, rights: may('ship') });
        const rights = [];
        for (const n of [3, 4]) rights.push((await tree.node(n))?.rights);
        expect(rights).toEqual([may('look'), may()]);
        await tree.answer(2, 'go');
        await tree.stop(1);
      },
      { others: [hand] },
    ));

  it('a node without rights, in a tree without rights, is told its task in the frame of its prompt', () =>
    forest(
      both(),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand });
        await tree.result();
        expect((await tree.node(1))?.rights).toBeUndefined();
        expect(await world.kernel.table([TREE, 'survey'], 'granted', {})).toEqual([]);
      },
      { others: [hand] },
    ));

  it('what is under way and is permitted no longer ends before any other input when rights are narrowed [TREE-49]', () => {
    const hang = (name: string) =>
      tool(name, (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
    const slow: AnyAgent = defineAgent({
      name: 'slow',
      model: 'main',
      instructions: 'Work.',
      tools: [hang('look'), hang('ship')],
    });
    const answers: Answers = ({ n, run, step, last }) => {
      if (n === 1 && run === 0) return step === 0 ? calls(spawn('a'), spawn('b')) : { text: 'x' };
      if (n === 2 && run === 0 && step === 0) return calls(spawn('c'), ['ship', {}]);
      if (step === 0) return call(n === 3 ? 'look' : 'ship', {});
      return complete(last.includes('cap_denied') || last.includes('cancelled') ? 'ended' : last);
    };
    return forest(
      answers,
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: slow });
        await expect.poll(async () => (await toolCalls(world)).open).toBe(3);
        expect(await tree.restrict(2, may('look'))).toMatchObject({ status: 'accepted' });
        // #2 made #4 and waits in its own tool beside it; #3 is not below #2.
        expect(await toolCalls(world)).toEqual({ open: 1, endedLast: ['revoked: cancelled', 'revoked: cancelled'] });
        expect((await tree.node(4))?.rights).toEqual(may('look'));
        expect((await tree.node(3))?.rights).toBeUndefined();
        expect(await tree.restrict(9, may())).toEqual({ status: 'rejected', code: 'unknown_node' });
        await tree.stop(1);
        await tree.result();
        expect(await tree.restrict(2, may())).toEqual({ status: 'rejected', code: 'already_ended' });
      },
      { others: [slow] },
    );
  });

  it('a node that may send to no other cell still reaches its tree, and one that may call no model fails [TREE-48]', () =>
    forest(
      ({ n, run, step }) => (n === 1 && run === 0 && step === 0 ? calls(spawn('a')) : complete(`result of ${n}`)),
      async ({ trees }) => {
        const silent = await trees.start('silent', { goal: 'top', rights: { may: { send: [] } } });
        expect(await silent.result()).toMatchObject({ status: 'complete', text: 'result of 1' });
        const idle = await trees.start('idle', { goal: 'top', rights: { may: { effect: ['tool.call@1'] } } });
        expect(await idle.result()).toMatchObject({ status: 'failed', code: expect.stringContaining('cap_denied') });
      },
    ));

  it('a node does not begin when the tree itself may not give it its rights [TREE-48]', () =>
    forest(
      ({ n }) => (n === 1 ? call('ask', { question: 'go?' }) : both()({ n } as never)),
      async ({ trees, world, asked }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand });
        await world.pump();
        const holder = 'cell:tree/Tree@1/survey' as const;
        await world.kernel.command('sys/SetRights@1', { holder, grant: { may: { tool: ['look'] } } });
        await tree.add(1, { goal: 'more', agent: hand, rights: may('ship') });
        await world.pump();
        expect(await tree.node(3)).toMatchObject({ status: 'failed', code: 'rights/rights_exceeded' });
        expect(asked.map(({ n }) => n)).not.toContain(3);
        await tree.stop(1);
      },
      { others: [hand] },
    ));

  it('a node under way fails when its rights cannot be narrowed as was asked, since it could do too much [TREE-49]', () =>
    forest(
      () => call('ask', { question: 'go?' }),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand, rights: may('look', 'ship') });
        await world.pump();
        const holder = 'cell:tree/Tree@1/survey' as const;
        await world.kernel.command('sys/SetRights@1', { holder, grant: { may: { tool: ['look'] } } });
        expect(await tree.restrict(1, may('ship'))).toMatchObject({ status: 'accepted' });
        expect(await tree.result()).toMatchObject({ status: 'failed', code: 'rights/rights_exceeded' });
        expect(await tree.asks()).toEqual([]);
      },
      { others: [hand] },
    ));

  it('rights that are not well formed, or name too many dimensions, are refused', () =>
    forest(
      () => call('ask', { question: 'go?' }),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', rights: may('look') });
        await world.pump();
        await expect(tree.add(1, { goal: 'g', rights: { tool: ['look'] } as never })).rejects.toThrow(/invalid rights/);
        const many = { may: Object.fromEntries(Array.from({ length: DIMENSIONS_MAX }, (_, i) => [`d${i}`, ['x']])) };
        expect(await tree.restrict(1, many)).toEqual({ status: 'rejected', code: 'too_many_rights' });
        await expect(trees.start('other', { goal: 'top', rights: { may: { tool: 'look' } } as never })).rejects.toThrow(
          /invalid rights/,
        );
        await tree.stop(1);
      },
    ));

  it('rights hold in every later run and session of a node, also after a restart and a retry [TREE-48]', async () => {
    const store = memory();
    const answers: Answers = ({ n, last, step }) => {
      if (n === 1) return call('ask', { question: 'go?' });
      if (step === 0) return call('ship', {});
      return complete(last.includes('cap_denied') ? 'denied' : last);
    };
    const settings = { store, others: [hand] };
    await forest(
      answers,
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand });
        await world.pump();
        await tree.add(1, { goal: 'more', agent: hand, rights: may('look') });
        await world.pump();
        expect((await tree.node(3))?.given?.text).toBe('denied');
      },
      { ...settings, goesOn: true },
    );
    await forest(
      answers,
      async ({ trees, world }) => {
        const tree = trees.tree('survey');
        for (const fresh of [false, true]) {
          await tree.retry(3, { fresh });
          await world.pump();
          const node = await tree.node(3);
          expect([node?.given?.text, node?.session]).toEqual(['denied', fresh ? 'survey/3~2' : 'survey/3']);
        }
        await tree.stop(1);
      },
      settings,
    );
  });

  it('a dry fork sets the same rights again, without the model and without being fed [TREE-43, TREE-48]', async () => {
    const [store, into] = [memory(), memory()];
    let before: readonly unknown[] = [];
    const granted = (world: AgentWorld) => world.kernel.table([TREE, 'survey'], 'granted', {});
    let rights: readonly unknown[] = [];
    await forest(
      both({ 1: ['a'] }),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top', agent: hand, rights: may('look') });
        await tree.result();
        [before, rights] = [await tree.nodes(), await granted(world)];
        expect(rights).toHaveLength(2);
        await world.pump();
        await world.fork({ at: 2, into });
      },
      { store, others: [hand], goesOn: true },
    );
    done.length = 0;
    await forest(
      () => {
        throw new Error('the model was called');
      },
      async ({ trees, world }) => {
        await world.pump();
        expect(await trees.tree('survey').result()).toMatchObject({ status: 'complete', text: 'seen denied' });
        expect(await trees.tree('survey').nodes()).toEqual(before);
        expect(await granted(world)).toEqual(rights);
        expect(done).toEqual([]);
      },
      { store: into, others: [hand] },
    );
  });
});
