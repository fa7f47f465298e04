/** What is the parent of what, in small worlds in which everything has a name. */
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory, type Store } from '@reprise/kernel';
import { llmGenerateAdapter, type ModelClient, type ScriptStep, scriptBy } from '@reprise/providers';
import { skill, team } from '@reprise/specialists';
import { trees } from '@reprise/tree';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Span, traces } from '../src/index.js';
import { below, type OpenSpan, OpenSpans } from '../src/trace/open-spans.js';
import { framesIn } from './support/journals.js';

const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.' });
const book = defineTool({
  name: 'book',
  description: 'Books.',
  args: z.strictObject({}),
  approval: 'always',
  run: () => 'Booked.',
});
const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead.', tools: [book], spawns: [helper] });

interface Opened {
  readonly store: Store;
  readonly parts?: Parameters<typeof openAgentWorld>[0]['parts'];
  readonly answer: (about: { readonly system: string; readonly last: string; readonly step: number }) => ScriptStep;
  /** What each model call waits for. */
  readonly before?: () => Promise<void>;
}

function open({ store, parts = [], answer, before = async () => undefined }: Opened): Promise<AgentWorld> {
  const scripted = scriptBy(({ system, last, messages }) => {
    const said = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const step = said.filter(({ role }) => role === 'assistant').length;
    return { ...answer({ system, last, step }), usage: { tokens_in: 7, tokens_out: 3 } };
  });
  const model: ModelClient = {
    ...scripted,
    generate: async (...call) => {
      await before();
      return scripted.generate(...call);
    },
  };
  return openAgentWorld({
    ...{ store, parts, agents: [boss, helper], models: { main: {} } },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
}

async function spansIn(store: Store, options: Parameters<typeof traces>[1] = {}): Promise<Span[]> {
  const reader = await store.openReadonly();
  const spans: Span[] = [];
  for await (const span of traces(await framesIn(reader), options)) spans.push(span);
  await reader.close();
  return spans;
}

/** Each span as `name < the names above it`. */
function linesOf(spans: readonly Span[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const path = (span: Span): string => {
    const parent = span.parentSpanId === null ? undefined : byId.get(span.parentSpanId);
    return parent === undefined ? span.name : `${span.name} < ${path(parent)}`;
  };
  return spans.map(path);
}

const RUN = 'invoke_agent boss';

function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

describe('parents of spans', () => {
  it('a child run is below the call that spawned it, and a later input of the living child begins a trace of its own with a link to its call [TRACE-7, TRACE-8]', async () => {
    const store = memory();
    const world = await open({
      store,
      answer: ({ system, step }) => {
        if (system.includes('Help')) return { text: 'Helped.' };
        const calls: readonly ScriptStep[] = [
          { calls: [{ tool: 'spawn_agent', args: { agent: 'helper', task: 'Help me.' } }] },
          { calls: [{ tool: 'wait_agents', args: { children: ['c1'] } }] },
          { calls: [{ tool: 'send_input', args: { child: 'c1', text: 'More.' } }] },
          { calls: [{ tool: 'wait_agents', args: { children: ['c1'] } }] },
        ];
        return calls[step] ?? { text: 'Done.' };
      },
    });
    await (await world.session('s', boss).send('Go.')).text();
    await world.close();
    const spans = await spansIn(store);
    const lines = linesOf(spans).filter((line) => line.startsWith('invoke_agent helper'));
    expect(lines).toEqual([`invoke_agent helper < execute_tool spawn_agent < ${RUN}`, 'invoke_agent helper']);
    const [first, later] = spans.filter(({ name }) => name === 'invoke_agent helper');
    const sent = spans.find(({ name }) => name === 'execute_tool send_input');
    const root = spans.find(({ name }) => name === RUN);
    expect(first?.traceId).toBe(root?.traceId);
    expect(later?.traceId).not.toBe(root?.traceId);
    expect(later?.links).toEqual([
      { traceId: sent?.traceId, spanId: sent?.spanId, attributes: { 'reprise.link': 'input' } },
    ]);
  });

  it('a node is below the call that made it, a step below its serial, and the run of a node below the node [TRACE-7]', async () => {
    const store = memory();
    const grove = trees({ agents: [helper] });
    const world = await open({
      store,
      parts: [grove],
      answer: ({ last }) => {
        if (last.includes('accepted')) return { text: 'Made.' };
        if (last.includes('Results of your children') || !last.includes('node #1'))
          return { calls: [{ tool: 'complete', args: { result: 'ready' } }] };
        const steps = ['one', 'two'].map((goal) => ({ goal, prompt: 'Do it.' }));
        return {
          calls: [
            { tool: 'spawn', args: { goal: 'first', prompt: 'Do it.' } },
            { tool: 'spawn', args: { goal: 'second', prompt: 'Do it.' } },
            { tool: 'serial', args: { goal: 'in order', steps } },
          ],
        };
      },
    });
    const tree = await world.part(grove).start('t', { goal: 'all' });
    expect((await tree.result()).status).toBe('complete');
    await world.close();
    const spans = await spansIn(store);
    const node = (n: number) => {
      const at = spans.findIndex((span) => span.attributes['reprise.node'] === n);
      return linesOf(spans)[at]?.replaceAll('invoke_workflow ', '').replaceAll('invoke_agent ', '');
    };
    const below = '< helper < tree.node < tree';
    expect([1, 2, 3, 4, 5, 6].map(node)).toEqual([
      'tree.node < tree',
      `tree.node < execute_tool spawn ${below}`,
      `tree.node < execute_tool spawn ${below}`,
      `tree.node < execute_tool serial ${below}`,
      `tree.node < tree.node < execute_tool serial ${below}`,
      `tree.node < tree.node < execute_tool serial ${below}`,
    ]);
    const parents = [2, 3].map((n) => spans.find((span) => span.attributes['reprise.node'] === n)?.parentSpanId);
    expect(new Set(parents).size).toBe(2); // each has its own call, although both were passed on together
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('the run of a job is below its task, a task below its project, and the coordinator too [TRACE-7]', async () => {
    const store = memory();
    const crew = team({
      name: 'crew',
      skills: [skill({ name: 'clerk', description: 'Books', tools: [], body: 'Book it.' })],
      tools: [],
      coordinator: { model: 'main', identity: 'You lead.' },
      dispatch: 'auto',
    });
    const world = await open({ store, parts: [crew], answer: () => ({ text: 'Done.' }) });
    const project = world.part(crew).project('p');
    const context = 'A brief that says what is to be done, and how. '.repeat(6);
    await project.plan([{ key: 'a', title: 'Book', context, skill: 'clerk' }]);
    await project.send('Go on.');
    expect((await project.idle()).status).toBe('done');
    await world.close();
    const lines = new Set(linesOf(await spansIn(store)));
    expect([...lines].filter((line) => line.startsWith('invoke')).sort()).toEqual([
      'invoke_agent clerk < invoke_workflow team.task < invoke_workflow crew',
      'invoke_agent coordinator-crew < invoke_workflow crew',
      'invoke_workflow crew',
      'invoke_workflow team.task < invoke_workflow crew',
    ]);
  });

  it('the frames of a fork have ids of their own world, and a link to the span of the original that they go on with [TRACE-9]', async () => {
    const [store, into] = [memory(), memory()];
    const answer: Opened['answer'] = ({ step }) =>
      step === 0 ? { calls: [{ tool: 'book', args: {} }] } : { text: 'Done.' };
    const world = await open({ store, answer });
    const run = await world.session('s', boss).send('Book.');
    await expect.poll(() => world.pending()).toHaveLength(1);
    const at = world.kernel.head.seq;
    await (await world.fork({ at, into, mode: 'live' })).world.toString();
    const [item] = await world.pending();
    await world.decide(item?.id ?? '', { approve: true });
    await run.text();
    await world.close();
    const forked = await open({ store: into, answer });
    const [again] = await forked.pending();
    if (again !== undefined) await forked.decide(again.id, { approve: true });
    await expect
      .poll(async () => (await spansIn(into, { after: at })).filter(({ name }) => name === RUN))
      .toHaveLength(1);
    await forked.close();
    const original = await spansIn(store);
    const own = await spansIn(into, { after: at, open: true });
    expect(own.length).toBeGreaterThan(0);
    const ids = new Set(original.map(({ spanId }) => spanId));
    expect(own.filter(({ spanId }) => ids.has(spanId))).toEqual([]);
    expect(
      own.filter((span) => span.parentSpanId !== null && !own.some(({ spanId }) => spanId === span.parentSpanId)),
    ).toEqual([]);
    expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(1);
    const before = own.find(({ name }) => name === RUN);
    const first = original.find(({ name }) => name === RUN);
    expect(before?.links).toEqual([
      { traceId: first?.traceId, spanId: first?.spanId, attributes: { 'reprise.link': 'original' } },
    ]);
    expect(before?.traceId).not.toBe(first?.traceId);
  });

  it('what begins in a fork is in the trace that its run has there [TRACE-9]', () => {
    const spans = new OpenSpans();
    spans.restore('aa', []);
    const here = (seq: number) => ({ seq, at: seq, records: [], i: 0 });
    const run = spans.begin(here(1), { of: 'run', key: 's', name: 'run', attributes: {} }, ['R', 's', 0]);
    const call = (key: string, above: OpenSpan) =>
      spans.begin(here(2), { of: 'call', key, name: 'call', attributes: {} }, below(above));
    expect(call('a', run).traceId).toBe(run.traceId);
    spans.fork('bb');
    const moved = spans.find('run', 's');
    if (moved === undefined) throw new Error('the run is not open in the fork');
    expect(moved.traceId).not.toBe(run.traceId);
    expect(call('b', moved).traceId).toBe(moved.traceId);
  });

  it('the traceparent of a message becomes a link of the run that it begins, joins or steers, and of no other [TRACE-18]', async () => {
    const store = memory();
    const [begun, gate] = [deferred(), deferred()];
    const before = async () => {
      begun.resolve();
      await gate.promise;
    };
    const world = await open({ store, answer: () => ({ text: 'Yes.' }), before });
    const from = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
    const session = world.session('main', boss);
    const first = await session.send('One', { id: 'one', traceparent: from('a') });
    await begun.promise;
    await session.steer('Be brief', { traceparent: from('b') });
    await session.send('Two', { id: 'two' });
    await session.followUp('Three', { traceparent: from('c') });
    await session.send('Four', { traceparent: from('0') }); // valid in its form, and the id of nothing
    gate.resolve();
    await first.result;
    await world.pump();
    await session.send('One', { id: 'one', traceparent: from('d') }); // the same message again
    await expect(session.send('Five', { traceparent: 'x' })).rejects.toThrow('invalid option "traceparent"');
    await world.close();
    const runs = (await spansIn(store)).filter(({ name }) => name === RUN);
    const linked = runs.map(({ attributes, links }) => [
      attributes['reprise.run'],
      links.map(({ traceId, spanId, attributes: about }) => `${traceId[0]}${spanId[0]} ${about['reprise.link']}`),
    ]);
    expect(linked).toEqual([
      ['main/r0', ['aa request', 'bb request']],
      ['main/r1', []],
      ['main/r2', ['cc request']],
      ['main/r3', []],
    ]);
  });
});
