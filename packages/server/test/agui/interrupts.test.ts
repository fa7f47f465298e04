/** Approvals and questions as interrupts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sqlite } from '@reprise/store-sqlite';
import { describe, expect, it } from 'vitest';
import { scriptBy } from '../../../reprise/src/providers.js';
import { eventsOf, type RecordingAgent } from './support/client.js';
import { agUiWorld } from './support/world.js';

const lastEvent = ({ last }: RecordingAgent) => eventsOf(last.text).at(-1);
const approve = ({ pendingInterrupts }: RecordingAgent) =>
  pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const, payload: { approved: true } }));
const answers = (agent: RecordingAgent, payload: unknown) => approve(agent).map((entry) => ({ ...entry, payload }));
const abandons = (agent: RecordingAgent) =>
  agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' as const }));
const results = ({ messages }: RecordingAgent) =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));

/** A client that asks for a payment, which waits for approval. */
async function asking(served: Awaited<ReturnType<typeof agUiWorld>>, words = 'pay 500', thread = 't') {
  const ann = await served.as('human:ann', thread);
  ann.say('m1', words);
  await ann.runAgent({ runId: 'r1' });
  return ann;
}

describe('interrupts', () => {
  it('an approval ends the run with all that a person decides on, and is the one that is pending [SRV-44]', async () => {
    await using served = await agUiWorld();
    const ann = await asking(served);
    const [item] = await served.world.pending();
    expect(ann.pendingInterrupts).toEqual([
      {
        id: item?.id,
        reason: 'tool_call',
        message: 'Approve pay {"cents":500}?',
        toolCallId: expect.stringMatching(/^ann\/t\/r0\/t1\/s1\/call_\d+_1$/), // a script numbers its answers
        responseSchema: expect.objectContaining({ required: ['approved'] }),
      },
    ]);
    await ann.runAgent({ resume: approve(ann) });
    expect([results(ann), served.paid, ann.pendingInterrupts]).toEqual([['Paid 500.'], [500], []]);
  });

  it.each<[string, object, string, number[]]>([
    ['a denial', { approved: false, reason: 'too much' }, 'no result (denied', []],
    ['edited arguments', { approved: true, editedArgs: { cents: 7 } }, 'Paid 7.', [7]],
  ])(
    '%s is the decision of the principal, and its call ends as the person says [SRV-44]',
    async (_, payload, words, paid) => {
      await using served = await agUiWorld();
      const ann = await asking(served);
      await ann.runAgent({ resume: answers(ann, payload) });
      expect(results(ann)).toEqual([expect.stringContaining(words)]);
      expect(served.paid).toEqual(paid);
    },
  );

  it('a question is answered with any value, and the end of a question that is left open is the end of its run [SRV-44]', async () => {
    await using served = await agUiWorld();
    const ann = await asking(served, 'ask');
    expect(ann.pendingInterrupts).toMatchObject([{ reason: 'input_required', message: 'Which one?' }]);
    await ann.runAgent({ resume: answers(ann, 'the blue one') });
    expect(results(ann)).toEqual(['the blue one']);
    const other = await asking(served, 'ask', 'u');
    await other.runAgent({ resume: abandons(other) });
    expect(lastEvent(other)).toMatchObject({ outcome: { type: 'cancelled' } });
  });

  it('an approval outlives its server: two pages approve it at the next one, twice each and at once, and it is paid once [SRV-43, SRV-44]', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reprise-ag-ui-'));
    const file = path.join(folder, 'world.db');
    const first = await agUiWorld({ store: sqlite(file) });
    const { messages, pendingInterrupts } = await asking(first);
    await first[Symbol.asyncDispose]();
    const second = await agUiWorld({ store: sqlite(file) });
    const pages = await Promise.all([1, 2].map(() => second.as('human:ann', 't')));
    for (const page of pages) Object.assign(page, structuredClone({ messages, pendingInterrupts }));
    const resume = approve(pages[0] as RecordingAgent);
    const both = (runId: string) =>
      Promise.all(pages.map((page, n) => page.runAgent({ runId: `${runId}${n}`, resume })));
    await both('r');
    await both('r');
    for (const page of pages) expect([results(page), page.pendingInterrupts]).toEqual([['Paid 500.'], []]);
    expect([...first.paid, ...second.paid]).toEqual([500]);
    await second[Symbol.asyncDispose]();
    const third = await agUiWorld({ store: sqlite(file) });
    const page = await third.as('human:ann', 't');
    page.messages = structuredClone(messages);
    await page.runAgent({ runId: 'r0', resume });
    expect([results(page), third.paid, third.errors]).toEqual([['Paid 500.'], [], []]);
    await third[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('an answer that comes too late is told how the item ended, and the client goes on without an answer [SRV-45]', async () => {
    await using served = await agUiWorld();
    const ann = await asking(served);
    const [item] = await served.world.pending();
    await served.world.decide(item ?? '', { deny: 'no' });
    await ann.runAgent({ resume: approve(ann) });
    expect(lastEvent(ann)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'already_settled',
      message: expect.stringContaining('was denied by'),
    });
    expect(served.paid).toEqual([]);
    await ann.runAgent({ resume: abandons(ann) });
    expect([lastEvent(ann)?.type, ann.pendingInterrupts]).toEqual(['RUN_FINISHED', []]);
    expect(results(ann)).toEqual([expect.stringContaining('denied')]);
  });

  it('an approval of other arguments than those with which a call was made is too late, and a repetition of the first one is accepted [SRV-43, SRV-45]', async () => {
    await using served = await agUiWorld();
    const ann = await asking(served);
    const edited = (cents: number) => answers(ann, { approved: true, editedArgs: { cents } });
    const [seven, eight, plain] = [edited(7), edited(8), approve(ann)];
    await ann.runAgent({ runId: 'seven', resume: seven });
    const page = await served.as('human:ann', 't'); // which does not check what it sends
    await page.runAgent({ runId: 'seven', resume: seven });
    expect([lastEvent(page)?.type, results(page)]).toEqual(['RUN_FINISHED', ['Paid 7.']]);
    for (const [runId, resume] of Object.entries({ eight, seven: eight, plain })) {
      await page.runAgent({ runId, resume });
      expect(lastEvent(page)).toMatchObject({
        type: 'RUN_ERROR',
        code: 'already_settled',
        message: expect.stringContaining('was approved by'),
      });
    }
    await page.runAgent({ runId: 'again', resume: seven });
    expect([lastEvent(page)?.type, served.paid]).toEqual(['RUN_FINISHED', [7]]);
  });

  it('answers that do not all fit decide nothing: an item of nowhere, a payload of another form [SRV-44]', async () => {
    const model = scriptBy(({ last }) =>
      last === 'both' ? { calls: [500, 600].map((cents) => ({ tool: 'pay', args: { cents } })) } : { text: 'Done.' },
    );
    await using served = await agUiWorld({ model });
    const ann = await asking(served, 'both');
    const [one, two] = approve(ann);
    const wrong = [
      [one, { ...two, interruptId: 'f'.repeat(64) }],
      [one, { ...two, payload: { approved: 'yes' } }],
      [one, { ...two, payload: { approved: false, editedArgs: {} } }],
    ];
    const page = await served.as('human:ann', 't'); // which does not check what it sends
    for (const resume of wrong) {
      await page.runAgent({ resume: resume as never });
      expect(lastEvent(page)).toMatchObject({ type: 'RUN_ERROR' });
    }
    expect((await served.world.pending()).length).toBe(2);
    await ann.runAgent({ resume: approve(ann) });
    expect(served.paid.toSorted()).toEqual([500, 600]);
  });

  it('a message while answers are awaited is sent with the answers, which a page that did not know of them is asked for [SRV-44]', async () => {
    await using served = await agUiWorld();
    await asking(served);
    const page = await served.as('human:ann', 't');
    page.say('m2', 'Hello?');
    await page.runAgent();
    expect(page.pendingInterrupts).toHaveLength(1);
    expect((await served.world.session('ann/t', served.clerk).state())?.queued).toBe(0);
    expect(page.messages.map(({ id }) => id)).toEqual(['m1', 'ann/t/r0/t1/s1', 'm2']);
    await page.runAgent({ resume: approve(page) });
    expect(served.paid).toEqual([500]);
    expect(page.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(page.messages.at(-1)?.content).toContain('Hello?');
  });

  it('an approval of a session below is an interrupt of its subagent, which begins and ends in each stream [SRV-41, SRV-44]', async () => {
    const model = scriptBy(({ last }) => {
      if (last === 'help') return { calls: [{ tool: 'spawn_agent', args: { agent: 'helper', task: 'pay for me' } }] };
      if (last.includes('pay for me')) return { calls: [{ tool: 'pay', args: { cents: 900 } }] };
      const isSpawned = last.includes('(c1): running');
      return isSpawned ? { calls: [{ tool: 'wait_agents', args: { children: ['c1'] } }] } : { text: 'All paid.' };
    });
    await using served = await agUiWorld({ model });
    const ann = await asking(served, 'help');
    const [item] = ann.pendingInterrupts;
    expect(item).toMatchObject({ reason: 'confirmation', subagentRunId: 'ann/t.c1' });
    expect(eventsOf(ann.last.text)).toContainEqual({
      type: 'SUBAGENT_FINISHED',
      subagentRunId: 'ann/t.c1',
      outcome: { type: 'suspended', interruptIds: [item?.id] },
    });
    await ann.runAgent({ resume: approve(ann) });
    expect(served.paid).toEqual([900]);
    expect(
      eventsOf(ann.last.text)
        .filter(({ type }) => type.startsWith('SUBAGENT'))
        .map(({ type }) => type),
    ).toEqual(['SUBAGENT_STARTED', 'SUBAGENT_FINISHED']);
  });

  it.each<[string, boolean]>([
    ['a message that waits for the answer is told behind it', true],
    ['a client that takes its message back has its end all the same', false],
  ])('a subagent that outlives its run asks when its person comes back: %s [SRV-42, SRV-44]', async (_, keeps) => {
    const model = scriptBy(({ last }) => {
      if (last === 'help') return { calls: [{ tool: 'spawn_agent', args: { agent: 'helper', task: 'pay for me' } }] };
      return last.includes('pay for me') ? { calls: [{ tool: 'pay', args: { cents: 900 } }] } : { text: 'Done.' };
    });
    await using served = await agUiWorld({ model });
    const ann = await asking(served, 'help');
    await expect.poll(async () => (await served.world.pending()).length).toBe(1);
    ann.say('m2', 'Hello?');
    await ann.runAgent();
    if (!keeps) ann.messages = ann.messages.filter(({ id }) => id !== 'm2');
    await ann.runAgent({ resume: approve(ann) });
    expect(lastEvent(ann)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    const said = ann.messages.flatMap(({ role, id }) => (role === 'user' ? [id] : []));
    expect(said).toEqual(keeps ? ['m1', 'm2'] : ['m1']);
    await expect.poll(() => served.paid).toEqual([900]);
  });
});
