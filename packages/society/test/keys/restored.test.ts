/** A world that is restored from an older backup: the keys of agents that it does not know yet stay in the vault. */
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { type KeyVault, memoryVault, society } from '../../src/index.js';

type Store = ReturnType<typeof memory>;

async function open(store: Store, keys: KeyVault) {
  const part = society({ keys });
  const world = await openWorld({ store, models: { main: script() }, parts: [part] });
  return { world, ann: await world.part(part).human('ann') };
}

/** A store with the first frames of another: what a backup restores. */
async function restored(from: Store, upTo: number): Promise<Store> {
  const into = memory();
  const [source, target] = [await from.open(), await into.open()];
  for await (const frame of source.journal.read(0)) {
    if (frame.seq > upTo) break;
    await target.journal.append([frame], await target.journal.head());
  }
  for await (const ref of source.content.list()) {
    const bytes = await source.content.get(ref);
    if (bytes !== undefined) await target.content.put(bytes);
  }
  await source.close();
  await target.close();
  return into;
}

const spec = (display_name: string) => ({ agentType: 'custom', displayName: display_name, capabilities: {} }) as const;

describe('the vault of a world that was restored from an older backup', () => {
  it('an opening keeps the keys of agents that were registered after the backup, also when the world has gone on otherwise [SOC-67]', async () => {
    const [store, keys] = [memory(), memoryVault()];
    const first = await open(store, keys);
    const old = await first.ann.register(spec('Old'));
    const backup = first.world.kernel.head.seq;
    const late = await first.ann.register(spec('Late'));
    await first.world.close();
    const copy = await restored(store, backup);
    for (const name of ['A', 'B', 'C']) {
      const { world, ann } = await open(copy, keys);
      await ann.register(spec(name));
      await world.close();
    }
    const { world } = await open(copy, keys);
    const names = [old, late].map(({ agent_id }) => `ed25519.${agent_id}`);
    expect(await keys.list(world.kernel.id)).toEqual(expect.arrayContaining(names));
    expect(await keys.list(world.kernel.id)).toHaveLength(5);
    await world.close();
    const again = await open(store, keys);
    expect(await keys.sign(names[1] as string, new Uint8Array(1))).toBeDefined();
    await again.world.verify();
    await again.world.close();
  });

  it('an opening still destroys a key whose registration this very journal did not finish', async () => {
    const [store, keys] = [memory(), memoryVault()];
    const first = await open(store, keys);
    const { key_ref } = await keys.make(first.world.kernel.id, first.world.kernel.head);
    const { key_ref: unknown } = await keys.make(first.world.kernel.id);
    await first.world.close();
    const { world } = await open(store, keys);
    expect(await keys.list(world.kernel.id)).toEqual([unknown]);
    expect(key_ref).not.toBe(unknown);
    await world.close();
  });
});
