/** Who may set the tier of an agent. */
import { describe, expect, it } from 'vitest';
import { forgery } from './support/audited.js';
import { agentOf, openOffice } from './support/office.js';

const POLICY = [{ send: 'society/Entity@1/*', who: 'cell:test/Forger@1/*', decision: 'allow' }] as const;

describe('the tier of an agent', () => {
  it('a tier stays as it is when a cell that is not the maker of the agent states another, though policy lets it send [SOC-26]', async () => {
    await using at = await openOffice({ parts: [{ ...forgery, policy: POLICY }] });
    const ann = await at.office.human('ann');
    const bot = at.office.entity(await agentOf(ann));
    const before = await bot.state();
    const forged = { to: [...bot.address], name: 'society/Tier@1', value: { tier: 'high' } };
    await at.world.kernel.request(['test/Forger@1', 'forger'], { name: 'test/Forge@1', value: forged });
    await at.world.pump();
    expect(before?.tier).toBe('medium');
    expect((await bot.state())?.tier).toBe('medium');
  });
});
