/** What holds up an entity, a swarm and a society: exactly the troubles of its own cells, and those that hold up all. */
import type { AgentWorld } from '@reprise/agent';
import type { Address } from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';
import fc from 'fast-check';
import { defineAgent, defineTool, isRepriseError, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { type SwarmHandle, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../conformance/part.js';
import { cellsOfEntity, troublesOfSociety, troublesOfSwarm } from '../src/api/troubles.js';
import { defectiveSociety } from './support/failing.js';

const SEED = 3720;
const STORE = 'memory/Store@1';
const SESSION = 'aos.agent/SessionReducer@1';
const REDUCERS = ['society/Entity@1', 'society/Swarm@1', 'society/Group@1', STORE, SESSION, 'work/Job@1'];
const NAMES = ['ann', 'anna', 's', 'g', 'x1', 'x1b'];
const KEYS = NAMES.flatMap((name) => [name, `${name}/desk`, `${name}~1`, `private:${name}`, `group:${name}`]);
const cell: fc.Arbitrary<Address> = fc.tuple(fc.constantFrom(...REDUCERS), fc.constantFrom(...KEYS));
const about = { code: 'x', since: 1, waiting: 1 } as const;
const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  { weight: 5, arbitrary: cell.map(failedCell) },
  {
    weight: 2,
    arbitrary: fc
      .array(cell, { maxLength: 2 })
      .map<Trouble>((cells) => ({ kind: 'service_failing', where: 'host', ...about, cells })),
  },
  fc.constant<Trouble>({ kind: 'clock_jump', where: 'clock', code: 'clock_mismatch', since: 1, waiting: 0 }),
);

function failedCell(where: Address): Trouble {
  return { kind: 'cell_failed', where, ...about, code: 'threw', frame: 1, event: 'e' };
}

/** A world of the entity `ann` and the agent `x1`, which the swarm `s` with the group `g` made. */
function worldWith(troubles: readonly Trouble[]): AgentWorld {
  const states: Record<string, unknown> = {
    'society/Entity@1/ann': {},
    'society/Entity@1/x1': {},
    'society/Swarm@1/s': { group: 'g' },
  };
  const kernel = {
    state: async ([reducer, key]: readonly [string | { readonly name: string }, string]) =>
      states[`${typeof reducer === 'string' ? reducer : reducer.name}/${key}`],
    table: async (_: Address, __: string, { after }: { readonly after?: string }) =>
      after === undefined
        ? [
            ['0.0', { agent_id: 'x1' }],
            ['0.1', { agent_id: null }],
          ]
        : [],
  };
  return { kernel, trouble: async () => troubles } as unknown as AgentWorld;
}

const top = (key: string) => key.split(/[/~]/)[0];

/** By hand: whose each cell is. */
const OWN: Readonly<Record<'entity' | 'swarm' | 'society', (cell: Address) => boolean>> = {
  entity: ([reducer, key]) => !/Swarm|Group/.test(reducer) && (top(key) === 'ann' || key === 'private:ann'),
  swarm: ([reducer, key]) =>
    `${reducer} ${key}` === 'society/Swarm@1 s' ||
    `${reducer} ${key}` === 'society/Group@1 g' ||
    `${reducer} ${key}` === `${STORE} group:g` ||
    (!/Swarm|Group/.test(reducer) && (top(key) === 'x1' || key === 'private:x1')),
  society: ([reducer, key]) =>
    reducer.startsWith('society/') ||
    (reducer === STORE && /^(private|group):/.test(key)) ||
    ['ann', 'x1'].includes(top(key) ?? ''),
};

function isOwn(one: Trouble, own: (cell: Address) => boolean): boolean {
  if (one.kind === 'cell_failed') return own(one.where);
  return one.kind === 'service_failing' && one.cells.some(own);
}

describe('the troubles of entities, swarms and societies', () => {
  it(`given random troubles (seed ${SEED}), an entity, a swarm and a society each list exactly their own; an adversary matches names by their beginning [SOC-131]`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(trouble, { maxLength: 6 }), async (troubles) => {
        const world = worldWith(troubles);
        const meant = (own: (cell: Address) => boolean) => troubles.filter((one) => isOwn(one, own));
        const entity = cellsOfEntity('ann');
        expect(troubles.filter((one) => isOwn(one, entity))).toEqual(meant(OWN.entity));
        expect(await troublesOfSwarm(world, 's')).toEqual(meant(OWN.swarm));
        expect(await troublesOfSociety(world)).toEqual(meant(OWN.society));
      }),
      { seed: SEED, numRuns: 200 / stepOf(4) },
    );
  });

  it('a swarm whose cell failed, and the society, list it as trouble, and no other swarm does [SOC-131]', async () => {
    const part = defectiveSociety(
      ({ reducer, event, state }) =>
        `${reducer} ${event}` === 'society/Swarm@1 society/Worked@1' &&
        (state as { readonly group: string }).group.startsWith('bad'),
    );
    const bot = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
    const main = scriptBy(() => ({ text: 'A market.' }));
    await using world = await openWorld({ store: memory(), models: { main }, agents: [bot], parts: [part] });
    const office = world.part(part);
    const ann = await office.human('ann');
    const made = (swarm_id: string) =>
      ann.createSwarm({
        swarmId: swarm_id,
        groupId: `${swarm_id}-group`,
        goal: 'G',
        strategy: 'broadcast',
        agents: SCOUTS,
      });
    const [bad, good] = [await made('bad'), await made('good')];
    await expect(bad.ended()).rejects.toMatchObject({ code: 'cell_failed' });
    await good.ended({ within: '30s' });
    const failed = [{ kind: 'cell_failed', where: bad.address }];
    expect(await bad.trouble()).toMatchObject(failed);
    expect(await office.trouble()).toMatchObject(failed);
    expect([await good.trouble(), await ann.trouble()]).toEqual([[], []]);
  });
});

const SCOUTS = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: { tools: ['wait'] }, count: 1 }];

describe('an agent of a swarm whose tool waits for the swarm', () => {
  it('a tool of an agent that waits for the end of its own swarm is refused at once, and one that bounds its wait is not [SOC-132]', async () => {
    const met: string[] = [];
    const scene = promised<SwarmHandle>();
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      args: z.strictObject({}),
      run: async () => {
        const swarm = await scene.promise;
        met.push((await swarm.ended({ within: 1 })).status);
        return swarm.ended().catch((error: unknown) => {
          met.push(isRepriseError(error) ? error.code : 'another error');
          throw error;
        });
      },
    });
    const bot = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.', tools: [wait] });
    const part = society();
    const main = scriptBy(({ last }) =>
      last.includes('waits_for_itself') || last.includes('waits for that effect')
        ? { text: 'Done.' }
        : { calls: [{ tool: 'wait', args: {} }] },
    );
    await using world = await openWorld({ store: memory(), models: { main }, agents: [bot], parts: [part] });
    const ann = await world.part(part).human('ann');
    const swarm = await ann.createSwarm({ goal: 'G', strategy: 'broadcast', agents: SCOUTS });
    scene.resolve(swarm);
    expect((await swarm.ended({ within: '30s' })).status).toBe('archived');
    expect(met).toEqual(['executing', 'waits_for_itself']);
  });
});

function promised<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
