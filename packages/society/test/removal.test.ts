/** What a removed agent leaves is cleared, whoever stands above it (SOC-38). */
import { memory } from 'reprise';
import { describe, expect, it } from 'vitest';
import { type KeyVault, memoryVault } from '../src/index.js';
import { agentOf, openOffice } from './support/office.js';

const HOUR = 3_600_000;

interface L1Fields {
  readonly fields: { readonly active: { readonly ref: unknown } };
}

/** A person with an agent and an agent below that, which has written to its hot context. */
async function chainOf(vault: KeyVault = memoryVault()) {
  const store = memory();
  const at = await openOffice({ store, society: { keys: vault } });
  const ann = await at.office.human('ann');
  const upper = at.office.entity(await agentOf(ann));
  const lower = at.office.entity(await agentOf(upper));
  const written = new Map<string, unknown>();
  for (const agent of [upper, lower]) {
    await agent.writeL1({ active: { secret: agent.id } }, 1);
    const { fields } = (await at.world.kernel.state(['society/L1@1', agent.id])) as unknown as L1Fields;
    written.set(agent.id, fields.active.ref);
  }
  return { ...at, ann, upper, lower, vault, written };
}

/** Whether what an agent wrote to its hot context is gone. */
async function isErased(at: Awaited<ReturnType<typeof chainOf>>, id: string): Promise<boolean> {
  const { content } = at.world.kernel;
  return (await content.erasedBy(at.written.get(id) as never)) !== undefined;
}

describe('the removal of an agent', () => {
  it('a removal below a maker that was deactivated or removed clears hot context and key all the same [SOC-38]', async () => {
    await using at = await chainOf();
    const { ann, upper, lower, clock, world, vault } = at;
    await ann.setStatus(lower.id, 'deactivate', { grace_seconds: 7_200 });
    await ann.setStatus(upper.id, 'deactivate', { grace_seconds: 3_600 });
    expect(await vault.list(world.kernel.id)).toHaveLength(2);
    await clock.advance(HOUR);
    await clock.settle();
    expect(await vault.list(world.kernel.id)).toEqual([`ed25519.${lower.id}`]);
    expect([await isErased(at, upper.id), await isErased(at, lower.id)]).toEqual([true, false]);
    await clock.advance(HOUR);
    await clock.settle();
    expect((await lower.state())?.status).toBe('removed');
    expect(await vault.list(world.kernel.id)).toEqual([]);
    expect(await isErased(at, lower.id)).toBe(true);
    for (const id of ['ann', upper.id])
      expect(await world.kernel.table(['society/Entity@1', id], 'clearing', {})).toEqual([]);
    await world.verify();
  });

  it('a removal whose maker is deactivated while it clears is taken over above [SOC-38]', async () => {
    const vault = memoryVault();
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    let asked = 0;
    const slow: KeyVault = {
      ...vault,
      destroy: async (world, key) => {
        if (++asked === 1) await held;
        return vault.destroy(world, key);
      },
    };
    await using at = await chainOf(slow);
    const { ann, upper, lower, clock, world } = at;
    await ann.setStatus(lower.id, 'deactivate', { grace_seconds: 3_600 });
    await clock.advance(HOUR);
    while (asked === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await ann.setStatus(upper.id, 'deactivate');
    await clock.settle();
    go();
    await clock.settle();
    expect(await vault.list(world.kernel.id)).toEqual([`ed25519.${upper.id}`]);
    await world.verify();
  });

  it('a vault that fails is asked again by the person at the top until the key is gone [SOC-38]', async () => {
    const vault = memoryVault();
    let failures = 2;
    const failing: KeyVault = {
      ...vault,
      destroy: (world, key) => {
        if (failures-- > 0) throw new Error('the disk is full');
        return vault.destroy(world, key);
      },
    };
    await using at = await chainOf(failing);
    const { ann, lower, upper, clock, world } = at;
    await ann.setStatus(lower.id, 'deactivate', { grace_seconds: 3_600 });
    await clock.advance(HOUR);
    await clock.settle();
    expect(await vault.list(world.kernel.id)).toHaveLength(2);
    for (let n = 0; n < 3; n++) {
      await clock.advance(120_000);
      await clock.settle();
    }
    expect(await vault.list(world.kernel.id)).toEqual([`ed25519.${upper.id}`]);
    expect(await world.kernel.table(['society/Entity@1', 'ann'], 'clearing', {})).toEqual([]);
    await world.verify();
  });

  it('a removal erases no item of a store that the agent has linked in its hot context [SOC-38]', async () => {
    await using at = await chainOf();
    const { ann, upper, clock, world } = at;
    const { item_id } = await ann.use('memory_write_warm', { type: 'note', content: 'Mine.', visibility: 'private' });
    const [item] = await world.kernel.table(['memory/Store@1', 'private:ann'], 'items', {});
    const { content_ref } = item?.[1] as unknown as { readonly content_ref: unknown };
    const patch = { ephemeral: { ref: content_ref, bytes: 5 } };
    const answer = await upper.answerTo('memory_write_hot', { patch, expected_version: 2 } as never);
    expect([item_id, answer.is_error]).toEqual(['private:ann#1', false]);
    await ann.setStatus(upper.id, 'deactivate', { grace_seconds: 3_600 });
    await clock.advance(HOUR);
    await clock.settle();
    expect(await isErased(at, upper.id)).toBe(true);
    expect(await world.kernel.content.get(content_ref as never)).toBeDefined();
    await world.verify();
  });
});
