/** Who may send what to the cells of a world with a society: each kind of sender, and each event that people may send. */
import type { Address, Principal } from '@reprise/contracts';
import type { ReducerDefinition } from '@reprise/kernel';
import { anyEventOf, LINKED_BYTES } from '@reprise/testkit/ports';
import fc from 'fast-check';
import type { WorldPart } from 'reprise/org';
import { team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { agentOf, agentWith, hangingTool, openOffice } from './support/office.js';

const SEED = Number(process.env.REPRISE_SEED ?? 61);

const NEW_AGENT = 'd'.repeat(64);

/** A person, two agents of it, a group, a stranger, and the adapter of a tool that one of the agents is running. */
async function crowd() {
  const hang = hangingTool();
  const worker = agentWith([hang.tool]);
  const dev = team({ name: 'dev', skills: [], tools: [], coordinator: { model: 'main', identity: 'You coordinate.' } });
  const at = await openOffice({ steps: [{ calls: [{ tool: 'hang', args: {} }] }], agents: [worker], parts: [dev] });
  const { world, office } = at;
  const ann = await office.human('ann');
  const [agent, sibling] = [await agentOf(ann), await agentOf(ann)];
  await office.group('crew').open({ owner: 'ann' });
  for (const id of ['ann', agent, sibling]) await office.group('crew').join(id);
  void office.entity(agent).send(worker, 'Go.', { session: 's' });
  while (hang.state.hanging === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const senders = {
    operator: 'operator',
    ann: 'human:ann',
    eve: 'human:eve',
    agent: `cell:society/Entity@1/${agent}`,
    sibling: `cell:society/Entity@1/${sibling}`,
    tool: `adapter:${await openEffect(world)}`,
  } as const;
  await world.kernel.content.put(LINKED_BYTES);
  return { ...at, ann, agent, sibling, senders, parts: [at.part, dev] as readonly WorldPart[] };
}

type Crowd = Awaited<ReturnType<typeof crowd>>;

/** The effect of the tool that is running. */
async function openEffect({ kernel }: Awaited<ReturnType<typeof openOffice>>['world']): Promise<string> {
  let found = '';
  for await (const { seq, records } of kernel.frames(1)) {
    for (const record of records)
      if (record.kind === 'effect' && record.name.startsWith('tool.')) found = record.effect;
    if (seq === kernel.head.seq) break;
  }
  return found;
}

/** How a request was answered: `taken`, or the code of the refusal. */
async function answered(at: Crowd, to: Address, event: { name: string; value: unknown }, as: Principal) {
  const done = at.world.kernel.request(to, event as never, { as });
  return done.then(
    () => 'taken',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
}

const NO = {
  ann: 'cap_denied',
  eve: 'cap_denied',
  agent: 'policy_denied',
  sibling: 'policy_denied',
  tool: 'policy_denied',
};

/** What each sender is answered: the operator first. */
type Answers = Readonly<Record<keyof Crowd['senders'], string>>;

type Row = readonly [to: Address, name: string, value: (n: number) => unknown, answers: Answers];

const OPERATOR: Answers = { operator: 'taken', ...NO };
const NOBODY: Answers = { operator: 'request_rejected', ...NO };

function rows({ agent }: Crowd): readonly Row[] {
  const call = (n: number) => ({ call_id: `call ${n}`, name: 'events_poll', args: {} });
  const own = { ...OPERATOR, agent: 'taken' };
  const none = { request_ref: null, inputs: [], model: null, pool: null, priority: 0, timeout_ms: 1_000, grant: null };
  const job = (n: number) => ({ n: n + 1, kind: 'note', ...none });
  const say = (n: number) => ({ operation: { op: 'reinforce', id: 1 }, tag: `t${n}` });
  const stores = [`private:${agent}`, `l1-notes:${agent}`, 'private:ann', 'group:crew', 'public'];
  const [entity, person, group] = [
    at('society/Entity@1', agent),
    at('society/Entity@1', 'ann'),
    at('society/Group@1', 'crew'),
  ];
  return [
    [person, 'society/Call@1', call, { ...OPERATOR, ann: 'taken' }],
    [entity, 'society/Call@1', call, own],
    [at('society/Entity@1', NEW_AGENT), 'society/Human@1', () => HUMAN, OPERATOR],
    [entity, 'society/Human@1', () => HUMAN, { ...NOBODY, agent: 'request_rejected' }],
    [entity, 'org/Rest@1', () => ({}), { ...NOBODY, agent: 'request_rejected' }],
    [
      entity,
      'society/Told@1',
      () => ({ to: agent, agent_id: agent, call: 'x', value: null, is_error: false }),
      { ...NOBODY, agent: 'request_rejected' },
    ],
    [at('society/L1@1', agent), 'society/ForgetL1@1', () => ({}), NOBODY],
    [group, 'society/OpenGroup@1', () => ({ kind: 'group', culture: {} }), OPERATOR],
    [group, 'society/Join@1', () => ({ entity: 'ann', role: 'member' }), OPERATOR],
    [group, 'society/Leave@1', () => ({ entity: 'nobody' }), OPERATOR],
    [group, 'society/Emcon@1', () => ({ on: false }), OPERATOR],
    [group, 'society/GroupNews@1', () => ({ event: 'swarm.task_complete', payload: {} }), NOBODY],
    [group, 'society/Wrote@1', () => ({ item_id: 'group:crew#1', type: 'note' }), NOBODY],
    [at('society/Group@1', 'mine'), 'society/OpenGroup@1', () => ({ kind: 'group', culture: {} }), OPERATOR],
    ...stores.flatMap((key): Row[] => [
      [at('memory/Store@1', key), 'memory/Open@1', () => ({}), OPERATOR],
      [at('memory/Store@1', key), 'memory/Say@1', say, OPERATOR],
    ]),
    [at('specialists/Project@1', 'p'), 'specialists/Open@1', () => ({ team: 'dev' }), OPERATOR],
    [at('specialists/Project@1', 'p'), 'specialists/Remember@1', say, OPERATOR],
    [at('work/Job@1', 'a job'), 'work/Begin@1', job, OPERATOR],
    [at('flow/Topic@1', 'society/crew'), 'flow/Publish@1', () => ({ name: 'x', value: {} }), OPERATOR],
  ];
}

const HUMAN = { display_name: 'Eve', root: {}, above: { may: {} }, app: null, grace_ms: 1_000 };

function at(reducer: string, key: string): Address {
  return [reducer, key];
}

/** Every reducer of a world with these parts. */
function reducersOf(parts: readonly WorldPart[]): readonly ReducerDefinition[] {
  const all = parts.flatMap(({ reducers = [], uses = [] }) => [...reducers, ...reducersOf(uses)]);
  return [...new Map(all.map((one) => [one.name, one])).values()];
}

/** The cells that the random events go to. */
function keysOf(name: string, { agent }: Crowd): readonly string[] {
  const known: Readonly<Record<string, readonly string[]>> = {
    'society/Entity@1': ['ann', agent, NEW_AGENT],
    'society/Group@1': ['crew', 'new'],
    'society/L1@1': ['ann', agent],
    'memory/Store@1': [`private:${agent}`, 'group:crew', 'public'],
    'flow/Topic@1': ['society/crew'],
  };
  return known[name] ?? ['new'];
}

describe('what comes from outside to the cells of a society', () => {
  it('each event that people may send is taken from the operator, by its own entity from a person or an agent, and from no other sender [SOC-65] [SOC-66]', async () => {
    await using there = await crowd();
    for (const [to, name, value, answers] of rows(there)) {
      const got: Record<string, string> = {};
      for (const [n, [who, as]] of Object.entries(there.senders).reverse().entries())
        got[who] = await answered(there, to, { name, value: value(n) }, as);
      expect([to, name, got]).toEqual([to, name, answers]);
    }
    await there.world.verify();
  });

  it(`no event of any kind, with any value, reaches a cell in the name of a stranger, of an agent but at its own entity, or of a tool: seed ${SEED} [SOC-65] [SOC-66] [GATE-30]`, async () => {
    await using there = await crowd();
    const taken = new Set<string>();
    let sent = 0;
    const reducers = reducersOf(there.parts);
    expect(reducers.map(({ name }) => name)).toEqual(expect.arrayContaining(['work/Job@1', 'specialists/Project@1']));
    for (const reducer of reducers)
      for (const event of fc.sample(anyEventOf(reducer), { seed: SEED, numRuns: 40 }))
        for (const key of keysOf(reducer.name, there))
          for (const who of ['eve', 'agent', 'tool'] as const) {
            const code = await answered(there, at(reducer.name, key), event, there.senders[who]);
            sent++;
            if (code === 'taken') taken.add(`${who} ${key === there.agent ? 'own' : key} ${event.name}`);
            else if (who === 'eve') expect(code).toBe('cap_denied');
          }
    expect(sent).toBeGreaterThan(1_500);
    expect([...taken].filter((one) => !/^agent own society\/(Call|Send|TakeNews)@1$/.test(one))).toEqual([]);
    await there.world.verify();
  });

  it('a stranger reads no cell of the society and sets no rights; a person that the app gives rights has those [SOC-66]', async () => {
    await using there = await crowd();
    const { world, agent } = there;
    const eve = world.kernel.as('human:eve');
    for (const cell of [at('society/Entity@1', agent), at('memory/Store@1', 'group:crew'), at('society/L1@1', 'ann')])
      await expect(eve.state(cell)).rejects.toMatchObject({ code: 'cap_denied' });
    for (const holder of ['human:eve', 'human:bob', `cell:society/Entity@1/${agent}`] as const) {
      const wide = world.kernel.command('sys/SetRights@1', { holder, exercise: { may: {} } }, { as: 'human:eve' });
      await expect(wide).rejects.toMatchObject({ code: expect.stringMatching(/^(cap_denied|rights_exceeded)$/) });
    }
    await world.kernel.command('sys/SetRights@1', {
      holder: 'human:desk',
      exercise: { may: { send: ['memory/Store@1/public#*'] } },
    });
    const open = { name: 'memory/Open@1', value: {} };
    expect(await answered(there, at('memory/Store@1', 'public'), open, 'human:desk')).toBe('taken');
    expect(await answered(there, at('memory/Store@1', 'private:ann'), open, 'human:desk')).toBe('cap_denied');
  });

  it('an app may let strangers more, and less again when it is opened another time', async () => {
    const strangers = { may: { send: ['memory/Store@1/public#*'], read: [] } };
    const first = await openOffice({ society: { strangers } });
    const open = { name: 'memory/Open@1', value: {} };
    const by = { as: 'human:eve' } as const;
    await first.world.kernel.request(at('memory/Store@1', 'public'), open, by);
    await first.world.close();
    await using second = await openOffice({ store: first.store });
    await expect(second.world.kernel.request(at('memory/Store@1', 'public'), open, by)).rejects.toMatchObject({
      code: 'cap_denied',
    });
    await expect(openOffice({ society: { strangers: { may: { send: ['a*b'] } } } })).rejects.toMatchObject({
      code: 'invalid_definition',
    });
  });
});
