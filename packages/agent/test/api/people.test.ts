/** What waits for people, and what they decide. */
import { isRepriseError, putValue } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Decision, defineAgent, defineSessionTool, defineTool } from '../../src/index.js';
import { play } from './scene.js';

const DAY_MS = 86_400_000;

function refundTool(done: { readonly order: string; readonly cents: number }[]) {
  return defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    args: z.strictObject({ order: z.string(), cents: z.int() }),
    approval: ({ args }) => (args.cents > 5_000 ? { reason: 'a large sum' } : false),
    run: (args) => {
      done.push(args);
      return { refunded: args.cents };
    },
  });
}

const asks = (cents: number) => ({ calls: [{ id: 'c1', tool: 'refund', args: { order: 'o-1', cents } }] });

/** Decisions from untyped callers, such as a web form: none of them may let the call run. */
const UNCLEAR: readonly unknown[] = [
  { approve: false },
  { approve: false, reason: 'no' },
  { approve: 'false' },
  { approve: 1 },
  { approve: true, deny: 'no' },
  { approve: true, arguments: { order: 'o-1', cents: 1 } },
  { approve: true, remember: false },
  { approve: true, remember: {} },
  { approve: true, comment: 7 },
  { deny: true },
  { deny: 'no', comment: 'really' },
  { answer: 'yes', approve: true },
  {},
  [],
  'yes',
  true,
  null,
  undefined,
];

function support(done: { readonly order: string; readonly cents: number }[] = []) {
  return defineAgent({ name: 'support', model: 'main', instructions: 'Help.', tools: [refundTool(done)] });
}

describe('an approval', () => {
  it('an approval is a pending item that states the call, the session, the time, and who may decide', async () => {
    const agent = support();
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Done.' }] }, async ({ world, settle }) => {
      const session = world.session('t-7', agent, { labels: { tenant: 'acme' } });
      await session.send('Refund');
      await settle();
      const [item, ...others] = await world.pending({ label: { tenant: 'acme' } });
      expect(others).toEqual([]);
      expect(item).toMatchObject({
        kind: 'approval',
        session: 't-7',
        labels: { tenant: 'acme' },
        tool: 'refund',
        args: { order: 'o-1', cents: 9_000 },
        reason: 'a large sum',
        to: 'human:*',
        deadline: null,
      });
      expect(item?.since).toBeGreaterThan(0);
      expect(await world.pending({ label: { tenant: 'other' } })).toEqual([]);
      expect(await world.pending({ session: 't-8' })).toEqual([]);
      expect((await session.state())?.waiting?.for).toBe('approval');
    });
  });

  it('an approval two days later lets the call continue, and the run completes', async () => {
    const done: { readonly order: string; readonly cents: number }[] = [];
    const agent = support(done);
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Done.' }] }, async ({ world, clock, settle }) => {
      const run = await world.session('t-7', agent).send('Refund');
      await settle();
      const [item] = await world.pending();
      await clock.advance(2 * DAY_MS);
      expect(done).toEqual([]);
      expect(await world.decide(item ?? '', { approve: true }, { as: 'human:ann' })).toEqual({ status: 'applied' });
      expect(await run.text()).toBe('Done.');
      expect(done).toEqual([{ order: 'o-1', cents: 9_000 }]);
      expect(await world.decide(item ?? '', { approve: true })).toEqual({
        status: 'already_settled',
        actor: { kind: 'person', id: 'ann' },
      });
    });
  });

  it('an approval with edited arguments runs the call with them, and tells the model [TOOL-10]', async () => {
    const done: { readonly order: string; readonly cents: number }[] = [];
    const agent = support(done);
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Done.' }] }, async ({ world, settle }) => {
      const session = world.session('t-7', agent);
      const run = await session.send('Refund');
      await settle();
      const [item] = await world.pending();
      const bad = world.decide(item ?? '', { approve: true, args: { order: 'o-1', cents: 'all' } });
      await expect(bad).rejects.toSatisfy((error) => isRepriseError(error, 'invalid_value'));
      await world.decide(item ?? '', { approve: true, args: { order: 'o-1', cents: 100 }, comment: 'only shipping' });
      await run.result();
      expect(done).toEqual([{ order: 'o-1', cents: 100 }]);
      const items = [];
      for await (const one of session.transcript()) items.push(one);
      expect(items.find(({ role }) => role === 'tool')).toMatchObject({
        edited_args_ref: expect.anything(),
        note_ref: expect.anything(),
      });
    });
  });

  it('a refused approval tells the model the reason, and nothing happens [TOOL-9]', async () => {
    const done: { readonly order: string; readonly cents: number }[] = [];
    const agent = support(done);
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Sorry.' }] }, async ({ world, llm, settle }) => {
      const run = await world.session('t-7', agent).send('Refund');
      await settle();
      const [item] = await world.pending();
      expect(await world.decide(item ?? '', { deny: 'too much' }, { as: 'human:ann' })).toEqual({ status: 'applied' });
      expect(await run.text()).toBe('Sorry.');
      expect(done).toEqual([]);
      expect(llm.asked[1]?.transcript.at(-1)).toBe('error c1: denied [too much]');
    });
  });

  it('a decision that does not clearly approve, deny or answer is refused, and the call still waits [ASK-13]', async () => {
    const done: { readonly order: string; readonly cents: number }[] = [];
    const agent = support(done);
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Sorry.' }] }, async ({ world, settle }) => {
      const run = await world.session('t-7', agent).send('Refund');
      await settle();
      const [item] = await world.pending();
      for (const unclear of UNCLEAR) {
        const decided = world.decide(item ?? '', unclear as Decision, { as: 'human:ann' });
        await expect(decided, JSON.stringify(unclear)).rejects.toSatisfy((error) =>
          isRepriseError(error, 'invalid_argument'),
        );
      }
      await settle();
      expect(done).toEqual([]);
      expect((await world.pending()).map(({ id }) => id)).toEqual([item?.id]);
      expect(await world.decide(item ?? '', { deny: '', approve: undefined } as unknown as Decision)).toEqual({
        status: 'applied',
      });
      expect(await run.text()).toBe('Sorry.');
      expect(done).toEqual([]);
    });
  });

  it('a refusal says what to do: of a decision, an item, an option and another agent of the same name [ASK-13]', async () => {
    const agent = support();
    await play({ agents: [agent], steps: [] }, async ({ world }) => {
      await expect(world.decide('c1', { approve: false, reason: 'no' } as unknown as Decision)).rejects.toThrow(
        "invalid_argument: invalid decision; at approve; expected true; got false. To deny the call, pass { deny: 'the reason' }.",
      );
      await expect(world.decide(undefined as unknown as string, { approve: true })).rejects.toThrow(
        'invalid_argument: invalid pending item; at item; expected an item of world.pending(), or its id',
      );
      await expect(world.decide('c1', { approve: true }, { by: 'human:ann' } as never)).rejects.toThrow(
        'invalid_argument: unknown option "by" of decide; expected as, digest, id, actor; got by',
      );
      expect(() => world.session('t-7', support())).toThrow(
        'unknown_agent: the world has another agent named "support". Pass the agent with which the world was opened',
      );
      await expect(world.session('t-7', agent).send('Hi', { key: 'm1' } as never)).rejects.toThrow(
        'invalid_argument: unknown option "key" of send; expected id, as, actor, pin, traceparent, priority; got key',
      );
    });
  });

  it('an approval of an item that has changed since it was shown is stale, and nothing happens', async () => {
    const agent = support();
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Done.' }] }, async ({ world, settle }) => {
      await world.session('t-7', agent).send('Refund');
      await settle();
      const [item] = await world.pending();
      const options = { digest: '0'.repeat(64) };
      expect(await world.decide(item?.id ?? '', { approve: true }, options)).toMatchObject({
        status: 'stale',
        item: { id: item?.id, kind: 'approval' },
      });
      expect(await world.pending()).toHaveLength(1);
    });
  });

  it('an approval is remembered for the tool and the session until it expires or is taken back', async () => {
    const done: { readonly order: string; readonly cents: number }[] = [];
    const agent = support(done);
    const steps = [asks(9_000), { text: '1' }, asks(9_000), { text: '2' }, asks(9_000), { text: '3' }];
    await play({ agents: [agent], steps }, async ({ world, clock, settle }) => {
      const session = world.session('t-7', agent);
      await session.send('Refund');
      await settle();
      const [item] = await world.pending();
      await world.decide(item ?? '', { approve: true, remember: { for: '1d' } }, { as: 'operator' });
      await settle();
      expect(await world.remembered('t-7')).toMatchObject([{ tool: 'refund' }]);
      expect(await (await session.send('Again')).text()).toBe('2');
      expect(done).toHaveLength(2);
      await clock.advance(DAY_MS + 1);
      await session.send('Again');
      await settle();
      expect(await world.pending()).toHaveLength(1);
      await world.forget('t-7', 'refund');
      expect(await world.remembered('t-7')).toEqual([]);
    });
  });

  it('an approval by a principal that may not decide is refused', async () => {
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      args: z.strictObject({}),
      approval: () => ({ reason: 'money', to: 'human:ann' }),
      run: () => 'paid',
    });
    const agent = defineAgent({ name: 'payer', model: 'main', instructions: '', tools: [tool] });
    await play({ agents: [agent], steps: [{ calls: [{ tool: 'pay' }] }, { text: 'x' }] }, async ({ world, settle }) => {
      await world.session('t', agent).send('Pay');
      await settle();
      const [item] = await world.pending();
      await expect(world.decide(item ?? '', { approve: true }, { as: 'human:bob' })).rejects.toSatisfy((error) =>
        isRepriseError(error, 'cap_denied'),
      );
      expect(await world.pending({ to: 'human:bob' })).toEqual([]);
      expect(await world.pending({ to: 'human:ann' })).toHaveLength(1);
      expect(await world.decide(item ?? '', { approve: true }, { as: 'human:ann' })).toEqual({ status: 'applied' });
    });
  });
});

describe('a question', () => {
  it('a question of the model waits for a person, whose answer the model reads [TOOL-16]', async () => {
    const ask = defineSessionTool({
      name: 'ask',
      description: 'Asks.',
      args: z.strictObject({ question: z.string(), options: z.array(z.string()) }),
      kind: 'ask',
      operation: async (question, content) => ({ op: 'ask', question_ref: await putValue(content, question) }),
    });
    const agent = defineAgent({ name: 'asker', model: 'main', instructions: '', tools: [ask] });
    const question = { question: 'Which one?', options: ['red', 'blue'] };
    const steps = [{ calls: [{ id: 'q', tool: 'ask', args: question }] }, { text: 'Blue.' }];
    await play({ agents: [agent], steps }, async ({ world, llm, settle }) => {
      const run = await world.session('t', agent).send('Choose');
      await settle();
      const [item] = await world.pending();
      expect(item).toMatchObject({
        kind: 'question',
        session: 't',
        tool: 'ask',
        callId: 'q',
        question: { question: 'Which one?', options: [{ id: 'red' }, { id: 'blue' }] },
      });
      await expect(world.answer(item ?? '', 'green')).rejects.toSatisfy((error) =>
        isRepriseError(error, 'invalid_value'),
      );
      expect(await world.answer(item ?? '', 'blue', { as: 'human:ann' })).toEqual({ status: 'applied' });
      expect(await run.text()).toBe('Blue.');
      expect(llm.asked[1]?.transcript.at(-1)).toBe('tool q: blue');
    });
  });

  it('a question of a running tool waits as well, and the tool continues with the answer', async () => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      args: z.strictObject({}),
      run: async (_args, { ask }) => {
        const answer = await ask({ question: 'Window or aisle?', answer: z.enum(['window', 'aisle']) });
        return answer.how === 'answered' ? `booked ${answer.value}` : answer.how;
      },
    });
    const agent = defineAgent({ name: 'booker', model: 'main', instructions: '', tools: [tool] });
    const steps = [{ calls: [{ id: 'b', tool: 'book' }] }, { text: 'Booked.' }];
    await play({ agents: [agent], steps }, async ({ world, llm }) => {
      const session = world.session('t', agent, { labels: { tenant: 'acme' } });
      const run = await session.send('Book');
      let items = await world.pending({ label: { tenant: 'acme' } });
      while (items.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        items = await world.pending({ label: { tenant: 'acme' } });
      }
      expect(items[0]).toMatchObject({ kind: 'question', tool: 'book', question: { question: 'Window or aisle?' } });
      expect(await world.answer(items[0] ?? '', 'aisle')).toEqual({ status: 'applied' });
      expect(await run.text()).toBe('Booked.');
      expect(llm.asked[1]?.transcript.at(-1)).toBe('tool b: booked aisle');
    });
  });
});

describe('the answers of people', () => {
  it('each question is reported as an event, also when several of one call end together [EVT-9]', async () => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      args: z.strictObject({}),
      run: async (_args, { ask }) => {
        const said = ['Window?', 'Meal?', 'Bag?'].map((question) => ask({ question, answer: z.string() }));
        return (await Promise.all(said)).map(({ how }) => how).join();
      },
    });
    const agent = defineAgent({ name: 'booker', model: 'main', instructions: '', tools: [tool] });
    await play({ agents: [agent], steps: [{ calls: [{ id: 'b', tool: 'book' }] }] }, async ({ world }) => {
      const run = await world.session('t', agent).send('Book');
      let items = await world.pending();
      while (items.length < 3) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        items = await world.pending();
      }
      expect(await world.answer(items[1] ?? '', 'fish')).toEqual({ status: 'applied' });
      await world.session('t', agent).close();
      const asked: string[] = [];
      const ends: unknown[] = [];
      for await (const event of run.events()) {
        if (event.type === 'human.requested') asked.push(event.id);
        if (event.type === 'human.resolved') ends.push([event.how, event.id, ...(event.also ?? [])]);
      }
      const [first, second, third] = asked;
      expect(ends).toEqual([
        ['answered', second],
        ['cancelled', first, third],
      ]);
    });
  });

  it('watchers see each question and how it ended', async () => {
    const agent = support();
    await play({ agents: [agent], steps: [asks(9_000), { text: 'Sorry.' }] }, async ({ world, settle }) => {
      const run = await world.session('t-7', agent).send('Refund');
      await settle();
      const [item] = await world.pending();
      await world.decide(item ?? '', { deny: 'no' }, { as: 'human:ann' });
      const seen = [];
      for await (const event of run.events()) seen.push(event);
      expect(seen.find(({ type }) => type === 'human.requested')).toMatchObject({
        id: item?.id,
        kind: 'approval',
        tool: 'refund',
        call_id: 'c1',
        value: { order: 'o-1', cents: 9_000 },
        step_id: 't-7/r0/t1/s1',
      });
      expect(seen.find(({ type }) => type === 'human.resolved')).toMatchObject({
        id: item?.id,
        how: 'denied',
        by: 'human:ann',
      });
    });
  });
});
