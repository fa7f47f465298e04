/** Who may set the tier of an agent. */

import { RepriseError } from '@reprise/contracts';
import type { ReducerDefinition } from '@reprise/kernel';
import { by } from '@reprise/kernel/define';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { forgery } from './support/audited.js';
import { agentOf } from './support/office.js';

const POLICY = [{ send: 'society/Entity@1/*', who: 'cell:test/Forger@1/*', decision: 'allow' }] as const;
const ENTITY = 'society/Entity@1';
const TIER = 'society/Tier@1';

/** The society, whose entities take their tier from every cell. */
function looseSociety(): ReturnType<typeof society> {
  const part = society();
  return { ...part, reducers: (part.reducers ?? []).map((one) => (one.name === ENTITY ? loose(one) : one)) };
}

function loose(reducer: ReducerDefinition): ReducerDefinition {
  const tier = reducer.events.get(TIER);
  if (tier === undefined) throw new RepriseError('invalid_definition', 'entities take no tier');
  return { ...reducer, events: new Map([...reducer.events, [TIER, { ...tier, from: [by.any] }]]) };
}

/** The tier of an agent before and after a cell that policy lets through has sent it another. */
async function tiersAround(part: ReturnType<typeof society>) {
  const parts = [part, { ...forgery, policy: POLICY }];
  await using world = await openWorld({ store: memory(), models: { main: script() }, agents: [], parts });
  const office = world.part(part);
  const bot = office.entity(await agentOf(await office.human('ann')));
  const before = (await bot.state())?.tier;
  const forged = { to: [...bot.address], name: TIER, value: { tier: 'high' } };
  await world.kernel.request(['test/Forger@1', 'forger'], { name: 'test/Forge@1', value: forged });
  await world.pump();
  return [before, (await bot.state())?.tier];
}

describe('the tier of an agent', () => {
  it('a tier stays as it is when a cell that is not the maker of the agent states another, though policy lets it send [SOC-26]', async () => {
    expect(await tiersAround(society())).toEqual(['medium', 'medium']);
  });

  it('the same event changes the tier of an agent that takes it from every cell: nothing but the declaration refuses it', async () => {
    expect(await tiersAround(looseSociety())).toEqual(['medium', 'high']);
  });
});
