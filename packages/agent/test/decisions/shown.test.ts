/** Who acted, as events, histories and explanations show it. */
import type { Actor } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { explainAct, findActs, History, type HistorySource } from '../../src/history/index.js';
import { type AgentEvent, defineAgent, defineTool } from '../../src/index.js';
import { play } from '../api/scene.js';
import { sourceIn } from '../history/source-in.js';

const RULE: Actor = { kind: 'rule', id: 'always:pay', granted_by: 'ann' };
const NIGHTLY: Actor = { kind: 'program', id: 'nightly' };
const ANN: Actor = { kind: 'person', id: 'ann' };

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.strictObject({ euros: z.int() }),
  approval: 'always',
  run: ({ euros }) => `paid ${euros}`,
});
const payer = defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [pay] });
const call = (id: string) => ({ calls: [{ id, tool: 'pay', args: { euros: 1 } }] });

const events: AgentEvent[] = [];
let source: HistorySource;
let read: readonly string[] = [];

beforeAll(async () => {
  const store = memory();
  const steps = [call('c-one'), call('c-two'), call('c-three'), { text: 'Done.' }];
  await play({ agents: [payer], steps, store }, async ({ world, llm, settle }) => {
    const session = world.session('s', payer);
    await session.send('Pay three times.', { as: 'human:ann' });
    await settle();
    await session.steer('Be quick.', { actor: NIGHTLY });
    const [first] = await world.pending();
    await world.decide(first ?? '', { approve: true, comment: 'as always' }, { as: 'human:ann', actor: RULE });
    await settle();
    const [second] = await world.pending();
    await world.decide(second ?? '', { deny: 'not at night' }, { as: 'human:bob', actor: NIGHTLY });
    await settle();
    const [third] = await world.pending();
    await world.decide(third ?? '', { deny: 'enough' }, { as: 'human:ann' });
    await settle();
    for await (const event of session.events({ follow: false })) events.push(event);
    read = llm.asked.at(-1)?.transcript ?? [];
  });
  source = sourceIn(await store.openReadonly());
});

async function why(call: string): Promise<readonly string[]> {
  const { acts } = await findActs(source, call);
  return acts[0] === undefined ? [] : (await explainAct(source, acts[0])).map(({ words }) => words);
}

describe('who acted', () => {
  it('the events of messages and decisions state the actor and the reason [ASK-16]', () => {
    const shown = events.flatMap((event) => {
      if (event.type === 'input.accepted' || event.type === 'command.accepted') return [[event.type, event.actor]];
      return event.type === 'human.resolved' ? [[event.how, event.by, event.actor, event.reason]] : [];
    });
    expect(shown).toEqual([
      ['input.accepted', ANN],
      ['command.accepted', NIGHTLY],
      ['approved', 'human:ann', RULE, 'as always'],
      ['denied', 'human:bob', NIGHTLY, 'not at night'],
      ['denied', 'human:ann', ANN, 'enough'],
    ]);
  });

  it('a history and an explanation show a decision of a rule and of a program as theirs, with its reason [ASK-16]', async () => {
    const history = new History(source.content);
    const entries = [];
    for await (const frame of source.frames()) entries.push(...(await history.entriesOf(frame)));
    const words = entries.filter(({ kind }) => kind === 'decision' || kind === 'message').map((entry) => entry.words);
    expect(words).toEqual([
      expect.stringMatching(/^ann says/),
      expect.stringMatching(/^program nightly says meanwhile/),
      expect.stringMatching(/^rule always:pay \(granted by ann\) approves pay c-one: request \w+: "as always"$/),
      expect.stringMatching(/^bob \(by the program nightly\) refuses pay c-two: request \w+: "not at night"$/),
      expect.stringMatching(/^ann refuses pay c-three: request \w+: "enough"$/),
    ]);
    expect(entries.find(({ kind }) => kind === 'decision')).toMatchObject({ by: 'human:ann', actor: RULE });
    const approved = /^approved by rule always:pay \(granted by ann\) \(at \d+\.0\): "as always"$/;
    expect(await why('c-one')).toContainEqual(expect.stringMatching(approved));
    expect(await why('c-two')).toContainEqual(
      expect.stringMatching(/^denied by bob \(by the program nightly\) .*"not at night"$/),
    );
  });

  it('the model reads each reason beside the call that it was about, and no actor [ASK-15]', () => {
    expect(read.filter((line) => /^(tool|error) /.test(line))).toEqual([
      'tool c-one: paid 1 [as always]',
      'error c-two: denied [not at night]',
      'error c-three: denied [enough]',
    ]);
    expect(read.join('\n')).not.toMatch(/ann|bob|nightly|always:pay/);
  });
});
