/** What an agent brings back, as clients see it: staged unless its parent says otherwise, and still judged as the agent's. */
import { describe, expect, it } from 'vitest';
import { returnArgs } from '../support/comeback.js';
import { openCrew, registered } from './support.js';

const note = { type: 'note', visibility: 'group', group: 'crew' } as const;

/** Ann with an agent that she found right so often that it is of the tier high, both members of a group. */
async function openScene() {
  const at = await openCrew();
  const { ann, crew } = at;
  const id = await registered(ann, 'ann');
  await crew.join(id);
  let tier = '';
  const [parent, agent] = [at.office.entity('ann'), at.office.entity(id)];
  for (let n = 1; tier !== 'high'; n++) {
    const { item_id } = await agent.use('memory_write_warm', { ...note, content: `Item ${n}` });
    ({ tier } = await parent.assess(item_id, { verdict: 'right', basis: 'user' }));
  }
  /** The agent comes back by what its parent's client is told. */
  const comesBack = async (texts: readonly string[]) => {
    const { data: challenge } = await ann.call('agent_challenge', { agent_id: id, purpose: 'return' });
    const items = texts.map((text) => ({ text }));
    const back = await returnArgs(at, id, { items, sessions: 0, nonce: challenge.nonce });
    return (await ann.call('agent_return', back)).data;
  };
  const inCrew = async () => {
    const { data } = await ann.call('memory_read_warm', { group: 'crew', limit: 50 });
    return data.items as readonly Readonly<Record<string, unknown>>[];
  };
  return { ...at, ann, id, comesBack, inCrew };
}

describe('what an agent of the tier high brings back', () => {
  it('an item is staged for a review while its parent has not asked for merges, and is in no group before that [SOC-59] [SOC-58]', async () => {
    await using at = await openScene();
    const before = (await at.inCrew()).length;
    const staged = await at.comesBack(['Brought.']);
    expect([staged.merged, typeof staged.staging_group_id]).toStrictEqual([false, 'string']);
    expect(await at.inCrew()).toHaveLength(before);
    const decision = { staging_group_id: staged.staging_group_id, decision: 'approve' };
    const { data: reviewed } = await at.ann.call('staging_review', decision);
    expect(reviewed.copied).toHaveLength(1);
    expect((await at.inCrew()).at(-1)).toMatchObject({ author: 'ann', taken_over_from: at.id });
    const { data: judged } = await at.ann.call('memory_assess', {
      item_id: reviewed.copied[0],
      verdict: 'wrong',
      basis: 'user',
    });
    expect(judged.error ?? judged.code).toBeDefined(); // what she took over by a review is her own
  });

  it('an item is merged where its parent asked for that, stays by the agent, and is judged by the parent down to where nothing is merged any more [SOC-84]', async () => {
    await using at = await openScene();
    await at.ann.call('agent_capabilities', { agent_id: at.id, automerge: true });
    const texts = Array.from({ length: 12 }, (_, n) => `Brought ${n}.`);
    expect((await at.comesBack(texts)).merged).toBe(true);
    const merged = (await at.inCrew()).slice(-texts.length);
    expect(merged.map(({ author, merged_by }) => [author, merged_by])).toStrictEqual(texts.map(() => [at.id, 'ann']));
    let tier: unknown;
    for (const { item_id } of merged)
      tier = (await at.ann.call('memory_assess', { item_id, verdict: 'wrong', basis: 'user' })).data.tier;
    expect(tier).not.toBe('high');
    expect((await at.comesBack(['Again.'])).merged).toBe(false);
  });
});
