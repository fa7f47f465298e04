/** Explanations: from a file, a call or a text back to the words of a person. */
import { memory, putValue } from '@reprise/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { explainAct, type FindOptions, findActs, History, type HistorySource } from '../../src/history/index.js';
import { defineAgent, defineSessionTool, defineTool } from '../../src/index.js';
import { gate, play } from '../api/scene.js';
import { sourceIn } from './source-in.js';

const read = defineTool({
  name: 'read',
  description: 'Reads.',
  args: z.strictObject({ path: z.string() }),
  run: ({ path }) => `the bound is 7, says ${path}`,
});
const write = defineTool({
  name: 'write',
  description: 'Writes.',
  args: z.strictObject({ path: z.string(), text: z.string() }),
  approval: ({ args }) => (args.path.endsWith('.secret') ? { reason: 'secret' } : false),
  guarantee: 'at_most_once',
  run: async ({ path, text }, ctx) => {
    ctx.changed(path, null, await ctx.content.put(new TextEncoder().encode(text)));
    return 'written';
  },
});
const ask = defineSessionTool({
  name: 'ask_human',
  description: 'Asks.',
  args: z.strictObject({ question: z.string() }),
  kind: 'ask',
  operation: async ({ question }, content) => ({ op: 'ask', question_ref: await putValue(content, { question }) }),
});
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Scout.', tools: [write] });
const boss = defineAgent({
  name: 'boss',
  model: 'main',
  instructions: 'Lead.',
  tools: [read, write, ask],
  spawns: [scout],
});

let source: HistorySource;
const lines = async (what: string, options?: FindOptions) => {
  const found = await findActs(source, what, options);
  const [act] = found.acts;
  if (act === undefined || found.acts.length !== 1) return found;
  return (await explainAct(source, act)).map(({ depth, words }) => `${'  '.repeat(depth)}${words}`);
};

beforeAll(async () => {
  const store = memory();
  const steering = gate();
  const steps = [
    { text: 'I look first.', calls: [{ id: 'r1', tool: 'read', args: { path: 'a.ts' } }], after: steering.opened },
    { text: 'Now I write.', calls: [{ id: 'w1', tool: 'write', args: { path: 'out/b.secret', text: 'bound 8' } }] },
    { calls: [{ id: 'w2', tool: 'write', args: { path: 'out/c.md', text: 'first' } }] },
    { calls: [{ id: 'w3', tool: 'write', args: { path: 'out/c.md', text: 'second' } }] },
    { text: 'All written.' },
    { calls: [{ id: 'q1', tool: 'ask_human', args: { question: 'Which?' } }] },
    {
      text: 'A scout goes.',
      calls: [{ id: 's1', tool: 'spawn_agent', args: { agent: 'scout', task: 'Scout item 1.' } }],
    },
    { calls: [{ id: 'w4', tool: 'write', args: { path: 'child.md', text: 'by the child' } }] },
    { text: 'Sent.' },
    { text: 'Scouted.' },
  ];
  await play({ agents: [boss, scout], steps, store }, async ({ world, settle }) => {
    const session = world.session('b', boss);
    await session.send('Raise the bound.', { as: 'human:ann' });
    await session.steer('Also keep the old one.', { as: 'human:bob' });
    steering.open();
    await settle();
    const [approval] = await world.pending();
    await world.decide(approval?.id ?? '', { approve: true, remember: true }, { as: 'human:carl' });
    await settle();
    await session.send('Now scout.', { as: 'human:ann' });
    await settle();
    const [question] = await world.pending();
    await world.decide(question?.id ?? '', { answer: 'The first.' }, { as: 'human:dora' });
    await settle();
  });
  source = sourceIn(await store.openReadonly());
});

describe('an explanation', () => {
  it('a file leads to the call that wrote it, who approved it, the answer, what was read, and both messages', async () => {
    expect(await lines('out/b.secret')).toEqual([
      expect.stringMatching(/^write was called \(w1, at \d+\.\d+\): \{"path":"out\/b\.secret","text":"bound 8"\}$/),
      expect.stringMatching(/^ {2}it wrote out\/b\.secret, sha256:[0-9a-f]{12}$/),
      expect.stringMatching(/^ {2}it returned \(at \d+\.\d+\): "written"$/),
      expect.stringMatching(/^ {2}approved by carl, and always from then on \(at \d+\.0\)$/),
      expect.stringMatching(/^because the model answered \(run 0, step 2, at \d+\.\d+\): "Now I write\."$/),
      '  after it had read',
      expect.stringMatching(/^ {4}read \{"path":"a\.ts"\} \(at \d+\.\d+\): "the bound is 7, says a\.ts"$/),
      expect.stringMatching(/^in answer to ann \(at \d+\.0\): "Raise the bound\."$/),
      expect.stringMatching(/^and to what was said meanwhile by bob \(at \d+\.0\): "Also keep the old one\."$/),
    ]);
  });

  it('a call is found by its id, by the beginning of its id, by its place, and by the digest of what it wrote', async () => {
    const byId = await lines('w2');
    expect(byId).toContainEqual(expect.stringContaining('write was called (w2,'));
    const { acts } = await findActs(source, 'w2');
    expect(await lines(acts[0]?.place ?? '')).toEqual(byId);
    const file = (await findActs(source, 'out/b.secret')).acts[0]?.file;
    expect((await findActs(source, `sha256:${file?.after?.hex.slice(0, 12)}…`)).acts).toMatchObject([
      { call_id: 'w1' },
    ]);
  });

  it('a file that was written twice leads to the last call, and the earlier ones are named', async () => {
    const found = await findActs(source, './out/c.md');
    expect(found).toMatchObject({ as: 'file', total: 1, acts: [{ call_id: 'w3' }], earlier: [{ call_id: 'w2' }] });
    expect(await findActs(source, 'c.md')).toMatchObject({ as: 'file', acts: [{ call_id: 'w3' }] });
    expect(await findActs(source, '/home/me/out/c.md')).toMatchObject({ as: 'file', acts: [{ call_id: 'w3' }] });
  });

  it('a text that several acts have lists them, the oldest first, and a place among them is explained', async () => {
    const found = await findActs(source, 'bound');
    expect(found).toMatchObject({ as: 'text', total: 3 });
    expect(found.acts.map(({ kind }) => kind)).toEqual(['message', 'result', 'call']);
    expect(await lines(found.acts[1]?.place ?? '')).toContainEqual(expect.stringContaining('read was called (r1,'));
    expect(await lines('All written')).toContainEqual(expect.stringContaining('the model answered (run 0, step 5,'));
  });

  it('a question of the model states who answered it', async () => {
    expect(await lines('q1')).toContainEqual(expect.stringMatching(/^ {2}answered by dora \(at \d+\.0\)$/));
  });

  it('an act of a child session leads through the call of its parent to the words of a person', async () => {
    const chain = await lines('child.md');
    expect(chain).toEqual(
      expect.arrayContaining([
        expect.stringContaining('write was called (w4,'),
        expect.stringMatching(/^in answer to session b \(at \d+\.\d+\): "Scout item 1\."$/),
        'session b.c1 was given that message by a call of session b:',
        expect.stringContaining('spawn_agent was called (s1,'),
        expect.stringContaining('because the model answered (run 1, step 2,'),
        expect.stringMatching(/^in answer to ann \(at \d+\.0\): "Now scout\."$/),
      ]),
    );
  });

  it('nothing found states what was searched', async () => {
    const found = await findActs(source, 'no such thing');
    expect(found).toMatchObject({ as: undefined, acts: [], total: 0 });
    expect(found.searched).toMatch(/^the messages, answers, arguments and results of \d+ frames, 2 sessions$/);
    expect(await findActs(source, 'nothing.md', { as: 'file' })).toMatchObject({ acts: [], total: 0 });
    expect(await findActs(source, 'child.md', { session: 'b' })).toMatchObject({ as: undefined });
  });

  it('the history of the same world states the child, the question and the remembered approval', async () => {
    const history = new History(source.content);
    const words: string[] = [];
    for await (const frame of source.frames())
      for (const entry of await history.entriesOf(frame)) words.push(entry.words);
    for (const part of [
      'makes child c1: session b.c1, agent scout',
      'session b (call s1) says (run 0): "Scout item 1."',
      'carl approves write w1 (from now on always): request',
      'bob says meanwhile (run 0): "Also keep the old one."',
      'question of ask_human q1: {"question":"Which?"}',
      'dora answers ask_human q1: request',
      'child c1 (session b.c1) completed: "Scouted."',
    ])
      expect(words).toContainEqual(expect.stringContaining(part));
  });
});
