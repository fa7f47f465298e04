/** Registrations whose process dies at each append: before what it appends is there, and just after. */

import type { AgentWorld } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { memory, type Store } from '@reprise/kernel';
import { leq } from '@reprise/kernel/authority';
import { VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../../conformance/dying-store.js';
import { makePair } from '../../src/adapters/ed25519.js';
import { type KeyVault, keyRefOf, memoryVault } from '../../src/adapters/vault.js';
import { entityAt, type Society, society } from '../../src/index.js';

interface Open {
  readonly world: AgentWorld;
  readonly office: Society;
}

async function open(store: Store, clock: VirtualClock, keys: KeyVault): Promise<Open> {
  const part = society({ keys });
  const world = await openWorld({ store, clock, models: { main: script() }, parts: [part] });
  return { world, office: world.part(part) };
}

/** A person registers an agent, which registers one of its own with less. @returns their ids */
async function register({ office }: Open): Promise<readonly string[]> {
  const ann = await office.human('ann');
  const tools = { capabilities: { tools: ['agent_register', 'fetch_*'], max_parallel_ops: 4 } };
  const first = await ann.register({ agentType: 'custom', displayName: 'First', ...tools }, { id: 'first' });
  const below = { agentType: 'custom' as const, displayName: 'Second', capabilities: { tools: ['fetch_a'] } };
  const second = await office.entity(first.agent_id).register(below, { id: 'second' });
  return [first.agent_id, second.agent_id];
}

/** Registers on a store that dies at an append; opens it again as often as needed. */
async function registered(store: DyingStore, keys: KeyVault): Promise<readonly string[]> {
  const clock = new VirtualClock();
  for (;;) {
    const deaths = store.deaths;
    const unlessDead = (error: unknown): undefined => {
      if (store.deaths === deaths) throw error;
    };
    const at = await open(store, clock, keys).catch(unlessDead);
    if (at === undefined) continue;
    const ids = await register(at).catch(unlessDead);
    await at.world.close().catch(() => undefined);
    if (ids !== undefined && store.deaths === deaths) return ids;
  }
}

/** No agent has more than its parent may hand on. */
async function requireNoMoreThanParents(world: AgentWorld): Promise<void> {
  const { kernel } = world;
  const parents = new Map<string, string>();
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records as readonly JournalRecord[]) {
      if (record.kind !== 'fact' || record.name !== 'society/Registered@1') continue;
      const { agent_id, parent_entity_id } = record.value as { agent_id: string; parent_entity_id: string | null };
      if (parent_entity_id !== null) parents.set(agent_id, parent_entity_id);
    }
    if (seq >= kernel.head.seq) break;
  }
  for (const [agent, parent] of parents) {
    const [own, above] = await Promise.all(
      [agent, parent].map(async (id) => (await kernel.rights(`cell:${entityAt(id).join('/')}`)).effective),
    );
    if (own === undefined || above === undefined) throw new Error('an entity has no rights');
    expect(leq(own.exercise, above.grant)).toBe(true);
  }
}

describe('given a person, an agent of hers, and one below it', () => {
  it('a process that dies at any append leaves one agent for each registration, never more rights than the parent has, and no key without an agent [SOC-5, SOC-7, SOC-8]', async () => {
    const counting = new DyingStore(memory());
    await registered(counting, memoryVault());
    expect(counting.appends).toBeGreaterThan(8);
    let deaths = 0;
    for (const side of ['before', 'after'] as const) {
      for (let n = 1; n <= counting.appends; n++) {
        const [inner, keys] = [memory(), memoryVault()];
        const store = new DyingStore(inner);
        store.dieAt(n, side);
        const ids = await registered(store, keys);
        const clock = new VirtualClock();
        await (await open(inner, clock, keys)).world.close(); // the next open clears the vault
        await using last = (await open(inner, clock, keys)).world;
        const made = await keys.list(last.kernel.id);
        expect([n, side, [...made].sort()]).toEqual([n, side, ids.map(keyRefOf).sort()]);
        const states = await Promise.all(ids.map((id) => last.kernel.state(entityAt(id))));
        expect(states.every((state) => state !== undefined)).toBe(true);
        await requireNoMoreThanParents(last);
        expect((await last.verify()).unverified).toBe(0);
        deaths += store.deaths;
      }
    }
    expect(deaths).toBe(2 * counting.appends);
  });

  it('a process that dies at any call of the vault while it registers agents, before or after it took effect, leaves one agent for each registration, and no key without an agent [SOC-5, SOC-7, SOC-8]', async () => {
    let calls = 0;
    const counting = watched(readable(), async (call) => {
      calls = call;
    });
    await registered(new DyingStore(memory()), counting);
    expect(calls).toBe(7); // the keys that are there; then, for each agent, its parent's key, its own, and that encrypted
    for (const deadlySide of ['before', 'after'] as const) {
      for (let n = 1; n <= calls; n++) {
        const [inner, keys] = [memory(), readable()];
        const store = new DyingStore(inner);
        const deadly = watched(keys, async (call, side) => {
          if (call === n && side === deadlySide) await store.kill();
        });
        const ids = await registered(store, deadly);
        expect([n, deadlySide, store.deaths]).toEqual([n, deadlySide, 1]);
        const clock = new VirtualClock();
        await (await open(inner, clock, keys)).world.close(); // the next open clears the vault
        await using last = (await open(inner, clock, keys)).world;
        const made = [...(await keys.list(last.kernel.id))].sort();
        expect([n, deadlySide, made]).toEqual([n, deadlySide, ids.map(keyRefOf).sort()]);
        await requireNoMoreThanParents(last);
        expect((await last.verify()).unverified).toBe(0);
      }
    }
  });

  it('processes that die one after another, each while it makes the key, still leave one agent for each registration, and no key without an agent [SOC-5, SOC-8]', async () => {
    const [inner, keys] = [memory(), memoryVault()];
    const store = new DyingStore(inner);
    let left = DEATHS;
    const deadly: KeyVault = {
      ...keys,
      async make(...given) {
        const made = await keys.make(...given);
        if (left-- > 0) await store.kill();
        return made;
      },
    };
    const ids = await registered(store, deadly);
    expect(store.deaths).toBe(DEATHS);
    const clock = new VirtualClock();
    await (await open(inner, clock, keys)).world.close(); // the next open clears the vault
    await using last = (await open(inner, clock, keys)).world;
    expect([...(await keys.list(last.kernel.id))].sort()).toEqual(ids.map(keyRefOf).sort());
    expect((await last.verify()).unverified).toBe(0);
  });

  it('a vault that is not cleared keeps the key of an attempt whose outcome is unknown', async () => {
    const keys = memoryVault();
    const isMade = new Set<string>();
    const watched: KeyVault = { ...keys, make: async (world) => remember(isMade, await keys.make(world)) };
    const uncleared: KeyVault = { ...watched, destroy: async () => false };
    let most = 0;
    const counting = new DyingStore(memory());
    await registered(counting, memoryVault());
    for (let n = 1; n <= counting.appends; n++) {
      isMade.clear();
      const store = new DyingStore(memory());
      store.dieAt(n, 'before');
      await registered(store, uncleared);
      most = Math.max(most, isMade.size);
    }
    expect(most).toBe(3);
  });
});

/** How many processes die in a row while they make a key. */
const DEATHS = 12;

type Side = 'before' | 'after';

/** The calls of a vault that write or read it. */
const CALLS = ['make', 'list', 'madeAt', 'encrypted', 'registered', 'destroy', 'sign'] as const;

/** A vault each of whose calls is told of: before it takes effect, and just after. */
function watched(keys: KeyVault, told: (call: number, side: Side) => Promise<void>): KeyVault {
  let calls = 0;
  const watch =
    (name: (typeof CALLS)[number]) =>
    async (...args: unknown[]) => {
      const call = ++calls;
      await told(call, 'before');
      const answer = await (keys[name] as (...given: unknown[]) => Promise<unknown>)(...args);
      await told(call, 'after');
      return answer;
    };
  return { ...keys, ...(Object.fromEntries(CALLS.map((name) => [name, watch(name)])) as Partial<KeyVault>) };
}

/** A vault for which every entity has a key with which it reads the private keys of its agents. */
function readable(): KeyVault {
  const { publicKey } = makePair('x25519');
  return { ...memoryVault(), registered: async () => publicKey };
}

function remember<T extends { readonly key_ref: string }>(made: Set<string>, key: T): T {
  made.add(key.key_ref);
  return key;
}
