/** Trees and cells of the app: a cell that starts a tree, and one that answers the own tools of its agents. */
import { defineAgent, defineOwnerTool, putText, readText, type WorldPart } from '@reprise/agent';
import { type OwnerCall, ownerCall } from '@reprise/agent/contracts';
import { type Address, type Ref, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { memory } from '@reprise/kernel';
import { creates, defineReducer } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { TREE, treeEnded } from '../../src/index.js';
import { call, calls, complete, forest } from './forest.js';

const DESK: Address = ['test/Desk@1', 'desk'];

const price = defineOwnerTool({
  name: 'price',
  description: 'Asks the desk for a price.',
  args: zod.strictObject({ item: zod.string() }),
});
const secret = defineOwnerTool({ name: 'secret', description: 'Of another agent.', args: zod.strictObject({}) });
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Ask the desk.', tools: [price] });
const guard = defineAgent({ name: 'guard', model: 'main', instructions: 'Guard.', tools: [secret] });

/** A cell that starts trees, answers calls, and stores how the trees ended. */
const desk = defineReducer({
  name: DESK[0],
  state: z.strictObject({
    calls: z.array(z.string()),
    ended: z.array(z.strictObject({ tree: z.string(), status: z.string(), result_ref: z.exactOptional(ref()) })),
  }),
  events: {
    'test/Survey@1': creates(z.strictObject({ tree: z.string(), prompt_ref: ref() })),
    'test/Stop@1': creates(z.strictObject({ tree: z.string() })),
    'aos.agent/OwnerCall@1': ownerCall,
    'tree/Ended@1': treeEnded,
  },
  init: () => ({ calls: [], ended: [] }),
  reduce(draft, event, ctx) {
    const { name, value } = event;
    if (name === 'test/Survey@1') {
      const start = { goal: 'Answer a question', prompt_ref: value.prompt_ref, agent: 'clerk', calls: DESK };
      return ctx.send([TREE, value.tree], { name: 'tree/Start@1', value: start });
    }
    if (name === 'test/Stop@1')
      return ctx.send(
        [TREE, value.tree],
        { name: 'tree/Stop@1', value: { node: 1 } },
        { reply: 'refusal', tag: 'stop' },
      );
    if (name === 'tree/Ended@1') {
      const { status, result_ref } = value;
      draft.ended.push({ tree: ctx.sender?.[1] ?? '', status, ...(result_ref === undefined ? {} : { result_ref }) });
      return;
    }
    const { session, call_id, step_epoch } = value as OwnerCall;
    draft.calls.push(`${ctx.sender?.[1]} ${session} ${value.name}`);
    const answer = { session, call_id, step_epoch, value: '3 dollars', refs: [], is_error: false };
    if (ctx.sender !== null)
      ctx.send([ctx.sender[0], ctx.sender[1]], { name: 'aos.agent/OwnerAnswer@1', value: answer });
  },
});

const office: WorldPart<undefined> = {
  name: 'office',
  reducers: [desk],
  handle: () => undefined,
};

type State = { readonly calls: readonly string[]; readonly ended: readonly { status: string; result_ref?: Ref }[] };

describe('a cell of the app', () => {
  it('a cell starts a tree with the agents of the part, answers its calls, and hears how it ended', () =>
    forest(
      ({ step, last, request }) => {
        expect(request.tools).toContain('price');
        return step === 0 ? call('price', { item: 'tea' }) : complete(`It costs ${last}.`);
      },
      async ({ trees, world }) => {
        const prompt_ref = await putText(world.kernel.content, 'What does tea cost?');
        await world.kernel.request(DESK, { name: 'test/Survey@1', value: { tree: 'tea', prompt_ref } });
        expect(await trees.tree('tea').result()).toMatchObject({ status: 'complete' });
        const state = (await world.kernel.state(DESK)) as never as State;
        expect(state.calls).toEqual(['tea tea/1 price']);
        expect(state.ended).toMatchObject([{ tree: 'tea', status: 'complete' }]);
        expect(await readText(world.kernel.content, state.ended[0]?.result_ref as Ref)).toBe('It costs 3 dollars.');
        expect((await trees.tree('tea').node(1))?.prompt).toBe('What does tea cost?');
      },
      { others: [clerk], parts: [office] },
    ));

  it('calls of an agent’s own tools reach the cell of the app, and those that it does not list are refused [OWN-10]', () =>
    forest(
      ({ n, run, step, last }) => {
        if (n === 1 && run === 0) {
          if (step > 0) return { text: 'x' };
          return calls(
            ['spawn', { goal: 'a', prompt: 'p', agent: 'clerk' }],
            ['spawn', { goal: 'b', prompt: 'p', agent: 'guard' }],
          );
        }
        if (n === 2 && step === 0) return call('price', { item: 'tea' });
        if (n === 3 && step === 0) return call('price', { item: 'tea' });
        return complete(last);
      },
      async ({ trees, world }) => {
        const prompt_ref = await putText(world.kernel.content, 'x');
        await world.kernel.request(DESK, { name: 'test/Survey@1', value: { tree: 'other', prompt_ref } });
        const tree = await trees.start('survey', { goal: 'top' });
        await tree.result();
        expect((await tree.node(2))?.given?.text).toBe('3 dollars');
        expect((await tree.node(3))?.given?.text).toMatch(/no tool|not one of your tools|price/);
        await trees.tree('other').result();
        const state = (await world.kernel.state(DESK)) as never as State;
        expect(state.calls.filter((text) => text.startsWith('survey'))).toEqual(['survey survey/2 price']);
      },
      { others: [clerk, guard], parts: [office], calls: DESK },
    ));

  it('a call of an agent’s own tool that the rights of its node do not permit does not reach the cell of the app [TREE-48]', () =>
    forest(
      ({ step, last }) => (step === 0 ? call('price', { item: 'tea' }) : complete(last)),
      async ({ trees, world }) => {
        const prompt_ref = await putText(world.kernel.content, 'x');
        await world.kernel.request(DESK, { name: 'test/Survey@1', value: { tree: 'other', prompt_ref } });
        const tree = await trees.start('survey', { goal: 'top', agent: clerk, rights: { may: { tool: ['mail'] } } });
        await tree.result();
        expect((await tree.node(1))?.given?.text).toContain('not_permitted');
        await trees.tree('other').result();
        const state = (await world.kernel.state(DESK)) as never as State;
        expect(state.calls.filter((text) => text.startsWith('survey'))).toEqual([]);
      },
      { others: [clerk], parts: [office], calls: DESK },
    ));

  it('a cell that did not start a tree cannot command it [TREE-30]', () =>
    forest(
      () => call('ask', { question: 'q' }),
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        await world.pump();
        await world.kernel.request(DESK, { name: 'test/Stop@1', value: { tree: 'survey' } });
        await world.pump();
        expect((await tree.nodes()).map(({ status }) => status)).toEqual(['active', 'active']);
        expect(await tree.stop(1)).toMatchObject({ status: 'accepted' });
      },
      { others: [clerk], parts: [office] },
    ));
});

describe('a fork of a world with trees', () => {
  it('a dry fork makes the same nodes and the same result again, without the model and without being fed [TREE-43, TREE-2]', async () => {
    const store = memory();
    const into = memory();
    const answers = ({ n, run, step }: { readonly n: number; readonly run: number; readonly step: number }) => {
      if (n === 1 && run === 0)
        return step === 0
          ? calls(['spawn', { goal: 'a', prompt: 'p' }], ['fork', { goal: 'b', prompt: 'p', blocked_by: [2] }])
          : { text: 'x' };
      return complete(`result of ${n}`);
    };
    let before: readonly unknown[] = [];
    await forest(
      answers,
      async ({ trees, world }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        await tree.result();
        before = await tree.nodes();
        await world.pump();
        await world.fork({ at: 2, into });
      },
      { store, goesOn: true },
    );
    await forest(
      () => {
        throw new Error('the model was called');
      },
      async ({ trees, world, asked }) => {
        await world.pump();
        expect(await trees.tree('survey').result()).toMatchObject({ status: 'complete', text: 'result of 1' });
        expect(await trees.tree('survey').nodes()).toEqual(before);
        expect(asked).toEqual([]);
      },
      { store: into },
    );
  });
});
