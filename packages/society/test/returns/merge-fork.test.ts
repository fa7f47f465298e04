/** What agents did in a fork of the world's file, brought back. */
import { memory, type Store } from '@reprise/kernel';
import { script } from '@reprise/providers';
import { defineAgent, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { society } from '../../src/index.js';
import { comeBack, crewOf, openPlace, type Place } from '../support/comeback.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** Verdicts after which the tier of an agent is high. */
const RIGHT = 27;

/** Work in a fork: the agent writes after each of its sessions. */
async function apart(at: Place, agent: string, sessions: number): Promise<Store> {
  const fork = memory();
  const budgets = { 'entity:ann': {}, [`entity:${agent}`]: {} };
  await at.world.kernel.fork({ into: fork, mode: 'live', grants: { may: {} }, budgets });
  const part = society({ keys: at.keys });
  const models = { main: script(...Array(sessions).fill({ text: 'Done.' })) };
  await using world = await openWorld({ store: fork, models, agents: [worker], parts: [part] });
  const bot = world.part(part).entity(agent);
  for (let n = 1; n <= sessions; n++) {
    await (await bot.send(worker, 'Go on.', { session: `s${n}` })).result();
    await bot.memory.write({
      type: 'note',
      content: `Found ${n}.`,
      visibility: 'group',
      group: 'crew',
      subjectKey: `s${n}`,
    });
  }
  await bot.memory.write({ type: 'note', content: 'Mine.', visibility: 'private' });
  return fork;
}

describe('a fork of the world', () => {
  it('what an agent wrote to its groups in a fork is staged with its divergence and conflicts, and written when it is approved [SOC-49] [SOC-50] [SOC-52]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    await ann.memory.write({ type: 'note', content: 'Known.', visibility: 'group', group: 'crew' });
    const fork = await apart(at, bot.id, 4);
    await ann.memory.write({ type: 'note', content: 'Else.', visibility: 'group', group: 'crew', subjectKey: 's2' });
    const { returns, stayed } = await ann.mergeFork(fork);
    expect(stayed).toEqual([{ agent_id: bot.id, private: 1, notes: 0 }]);
    expect(returns).toMatchObject([{ agent_id: bot.id, divergence: 4, merged: false, items: 4, review: 'usual' }]);
    const staged = await ann.staging(bot.id);
    expect(staged.map(({ content, conflicts_with }) => [content, conflicts_with])).toEqual([
      ['Found 1.', undefined],
      ['Found 2.', 'group:crew#2'],
      ['Found 3.', undefined],
      ['Found 4.', undefined],
    ]);
    const ids = staged.filter(({ conflicts_with }) => conflicts_with === undefined).map(({ item_id }) => item_id);
    expect((await ann.review(bot.id, { approve: ids })).copied).toHaveLength(3);
    const { items } = await ann.memory.list('crew');
    expect(items.map(({ content }) => content)).toEqual(['Known.', 'Else.', 'Found 1.', 'Found 3.', 'Found 4.']);
    expect((await world.verify()).unverified).toBe(0);
  });

  it('a store without a fork of this world, and an agent whose key is elsewhere, are refused, and nothing is staged [SOC-49]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const other = await openPlace(memory());
    const elsewhere = memory();
    await other.world.kernel.fork({ into: elsewhere });
    await other.world.close();
    await expect(ann.mergeFork(elsewhere)).rejects.toMatchObject({ code: 'invalid_argument' });
    const fork = await apart(at, bot.id, 1);
    const noKey = ann.mergeFork(fork, { sign: async () => undefined });
    await expect(noKey).rejects.toMatchObject({ code: 'invalid_argument' });
    const wrong = ann.mergeFork(fork, { sign: async () => `${'A'.repeat(86)}==` });
    await expect(wrong).rejects.toMatchObject({ details: { reason: 'signature_invalid' } });
    expect(await ann.staging(bot.id)).toEqual([]);
    await world.verify();
  });

  it('what a parent merged without a review in a fork is brought back by the agent whose item it is, and not by the parent [SOC-57] [SOC-84]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const { agent_id: kid } = await bot.register(
      { agentType: 'custom', displayName: 'Kid', capabilities: {}, automerge: true },
      { id: 'kid' },
    );
    await at.office.group('crew').join(kid);
    const note = { type: 'note', visibility: 'group', group: 'crew' } as const;
    for (let n = 1; n <= RIGHT; n++) {
      await at.office.entity(kid).memory.write({ ...note, content: `Item ${n}.` });
      await bot.assess(`group:crew#${n}`, { verdict: 'right', basis: 'user' });
    }
    await at.clock.advance(1_000);
    const store = memory();
    const budgets = { 'entity:ann': {}, [`entity:${bot.id}`]: {}, [`entity:${kid}`]: {} };
    await world.kernel.fork({ into: store, mode: 'live', grants: { may: {} }, budgets });
    const fork = await openPlace(store, { clock: at.clock, keys: at.keys });
    const away = fork.office.entity(bot.id);
    const { value } = await comeBack(fork, away, kid, { items: [{ text: 'Of the kid.' }], sessions: 0 });
    expect(value.merged).toBe(true);
    await fork.world.close();
    const { returns } = await ann.mergeFork(store, { agents: [bot.id, kid] });
    expect(returns).toMatchObject([{ agent_id: kid, items: 1 }]);
  });
});
