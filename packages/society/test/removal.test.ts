/** What a removed agent leaves is cleared, whatever stands above it (SOC-38). */
import { memory } from 'reprise';
import { describe, expect, it } from 'vitest';
import { type KeyVault, memoryVault } from '../src/index.js';
import { agentOf, openOffice } from './support/office.js';

const HOUR = 3_600_000;

/** A person with an agent and an agent below that. */
async function chainOf(vault: KeyVault = memoryVault()) {
  const store = memory();
  const at = await openOffice({ store, society: { keys: vault } });
  const ann = await at.office.human('ann');
  const upper = at.office.entity(await agentOf(ann));
  const lower = at.office.entity(await agentOf(upper));
  return { ...at, ann, upper, lower, vault };
}

describe('the removal of an agent', () => {
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
    await ann.setStatus(lower.id, 'deactivate', { grace: '3600s' });
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
});
