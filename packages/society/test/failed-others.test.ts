/** Waits for the cells beside entities and swarms: a group and a hot context that fail end what waits for them. */
import { type Address, formatAddress, isRepriseError } from '@reprise/contracts';
import { defineAgent, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { changedUses, defectiveSociety } from './support/failing.js';
import { agentOf } from './support/office.js';

/** A group fails when an entity has answered that it takes part, and a hot context when it is to be shown. */
const defective = () =>
  defectiveSociety(({ reducer, event }) => {
    if (reducer === 'society/Group@1') return event === 'sys/Reply@1' || event === 'society/Emcon@1';
    return event === 'society/ReadL1@1';
  });

async function office() {
  const part = defective();
  const world = await openWorld({ store: memory(), models: { main: script() }, agents: [], parts: [part] });
  const ann = await world.part(part).human('ann');
  const bot = world.part(part).entity(await agentOf(ann));
  return { world, office: world.part(part), ann, bot };
}

type Place = Awaited<ReturnType<typeof office>>;

const outcome = (asked: Promise<unknown>) =>
  asked.then(
    () => 'no error',
    (error: unknown) => (isRepriseError(error) ? [error.code, error.details.reason] : error),
  );

const crew = ({ office: at }: Place) => at.group('crew');

/** Each: what waits, the cell that fails, what begins the wait, and how it ends. */
const CASES: readonly (readonly [string, string, (at: Place) => Promise<unknown>, readonly unknown[]])[] = [
  [
    'a member that joins a group which fails',
    'society/Group@1',
    async (at) => {
      await crew(at).open();
      await crew(at).join(at.bot.id);
    },
    ['cell_failed', undefined],
  ],
  [
    'an entity that commands a group which fails',
    'society/Group@1',
    async (at) => {
      if ((await crew(at).state()) === undefined) await crew(at).open({ owner: 'ann' });
      await at.ann.use('group_emcon', { group_id: 'crew', on: true });
    },
    ['request_rejected', 'cell_failed'],
  ],
  [
    'an entity that reads a hot context which fails',
    'society/L1@1',
    async ({ bot }) => bot.l1(),
    ['request_rejected', 'cell_failed'],
  ],
  [
    'an entity that writes a hot context which has failed',
    'society/L1@1',
    async ({ bot }) => {
      await bot.l1().catch(() => undefined);
      await bot.writeL1({ agent: { task: { goal: 'Work', progress: 0 } } }, 1);
    },
    ['request_rejected', 'cell_failed'],
  ],
];

describe('given a cell of a society that fails, besides its entities and swarms', () => {
  it.each(CASES)(
    '%s is told of the failed cell, at the fault and after it [RED-39]',
    async (_name, reducer, wait, expected) => {
      const at = await office();
      await using world = at.world;
      expect(await outcome(wait(at))).toEqual(expected);
      expect(await outcome(wait(at))).toEqual(expected);
      expect(
        (await world.trouble()).map(({ where }) => formatAddress(where as Address).startsWith(`${reducer}/`)),
      ).toEqual([true]);
      await world.verify();
    },
  );
});

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
const SCOUTS = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: { tools: [] }, count: 1 }];
const register = (ann: Place['ann']) => ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} });
const createSwarm = (ann: Place['ann']) =>
  ann.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents: SCOUTS, swarmId: 's' });

/** Each: what is made, the cell that fails of which event, and the call that makes it. */
const MADE: readonly (readonly [string, string, string, (ann: Place['ann']) => Promise<unknown>])[] = [
  ['an agent', 'society/Entity@1', 'society/Make@1', register],
  ['an agent of a swarm', 'society/Entity@1', 'society/Make@1', createSwarm],
  ['a swarm', 'society/Swarm@1', 'society/OpenSwarm@1', createSwarm],
  ['the group of a swarm', 'society/Group@1', 'society/OpenGroup@1', createSwarm],
];

describe('given a cell that fails of the event that makes it', () => {
  it.each(MADE)(
    'the call that makes %s is refused with cell_failed, and not as if rights or a name were wrong [SOC-78]',
    async (_, reducer, event, make) => {
      const part = defectiveSociety((at) => at.reducer === reducer && at.event === event);
      await using world = await openWorld({
        store: memory(),
        models: { main: script() },
        agents: [scout],
        parts: [part],
      });
      const ann = await world.part(part).human('ann');
      expect(await outcome(make(ann))).toEqual(['request_rejected', 'cell_failed']);
    },
  );

  it('a swarm under the name of another one, and an item of a store that does not exist, keep codes of their own', async () => {
    const part = defectiveSociety(() => false);
    await using world = await openWorld({
      store: memory(),
      models: { main: script() },
      agents: [scout],
      parts: [part],
    });
    const office = world.part(part);
    const [ann, bob] = [await office.human('ann'), await office.human('bob')];
    await createSwarm(ann);
    expect(await outcome(createSwarm(bob))).toEqual(['request_rejected', 'swarm_exists']);
    const assessed = ann.assess(`private:${ann.id}#1`, { verdict: 'right', basis: 'user' });
    expect(await outcome(assessed)).toEqual(['request_rejected', 'store_unknown']);
  });

  it('a store whose cell fails is answered with cell_failed', async () => {
    const part = society();
    const failing = { ...part, uses: changedUses(part, failingStore) };
    await using world = await openWorld({ store: memory(), models: { main: script() }, agents: [], parts: [failing] });
    const ann = await world.part(failing).human('ann');
    expect(await outcome(ann.memory.write({ type: 'note', content: 'Tea.', visibility: 'private' }))).toEqual([
      'request_rejected',
      'cell_failed',
    ]);
  });
});

/** A store that fails of each effect that it is to settle. */
function failingStore(one: ReducerDefinition): ReducerDefinition {
  if (one.name !== 'memory/Store@1') return one;
  const reduce: typeof one.reduce = (draft, given, ctx) => {
    if (given.name === 'sys/EffectOpened@1') throw new Error('a defect');
    return one.reduce(draft, given, ctx);
  };
  return { ...one, reduce };
}
