/** What trust lets an agent do, as its client and its model see it: in each tier, for operations and for news. */
import { defineAgent } from 'reprise';
import { describe, expect, it } from 'vitest';
import { agentAs, type Caller, openServed, registered } from './support.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [] });
const GROUPS = ['named', 'other', 'bonus'] as const;
const note = { type: 'note', visibility: 'group', content: 'Found.' };

/** Ann's agent names one group of three, and reaches the second by a star; the third is promised to the tier high. */
async function openScene() {
  const at = await openServed({ agents: [worker] });
  for (const name of ['ann', 'ben']) await at.office.human(name);
  const [ann, ben] = [await at.as('human:ann'), await at.as('human:ben')];
  const scope = { layers: ['l1', 'l2'], groups: ['named', 'o*', 'judged'], visibility: ['private', 'group', 'public'] };
  const write = { ...scope, visibility: ['private', 'group'] };
  const id = await registered(ann, 'ann', { memory_read: scope, memory_write: write });
  await ann.call('agent_capabilities', { agent_id: id, bonus_groups: ['bonus'] });
  for (const name of ['judged', ...GROUPS]) {
    const group = at.office.group(name);
    await group.open({ owner: 'ben', culture: { broadcast_eagerness: 'moderate' } });
    for (const one of ['ann', 'ben', id]) await group.join(one);
  }
  return { ...at, ann, ben, id, bot: await at.as(agentAs(id)) };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** Ann judges items of the agent until it has a tier. @returns how many verdicts that took */
async function judgedTo({ ann, bot }: Scene, tier: string, verdict: 'right' | 'wrong'): Promise<number> {
  const items: string[] = [];
  for (let n = 0; n < (tier === 'low' ? 3 : 28); n++)
    items.push((await bot.call('memory_write_warm', { ...note, group: 'judged' })).data.item_id);
  for (const [at, item_id] of items.entries()) {
    const { data } = await ann.call('memory_assess', { item_id, verdict, basis: 'user' });
    if (data.tier === tier) return at + 1;
  }
  throw new Error(`never ${tier}`);
}

/** What the agent may do in each group: `r` for reading it, `w` for writing it. */
async function reached({ call }: Caller): Promise<readonly string[]> {
  const found: string[] = [];
  for (const group of GROUPS) {
    const reads = await call('memory_read_warm', { group });
    const writes = await call('memory_write_warm', { ...note, group });
    found.push(`${reads.isError ? '' : 'r'}${writes.isError ? '' : 'w'}`);
  }
  return found;
}

/** Ben writes to each group. @returns the groups of which the model of the agent is then sent the words */
async function toldOf(at: Scene): Promise<readonly string[]> {
  const mark = `canary-${at.prompts().length}`;
  for (const group of GROUPS)
    await at.ben.call('memory_write_warm', { ...note, group, content: `${mark} of ${group}` });
  await (await at.office.entity(at.id).send(worker, 'Go on.')).text();
  const prompt = at.prompts().at(-1) ?? '';
  const inbox = JSON.stringify((await at.bot.call('events_poll', { limit: 256 })).data.events);
  return GROUPS.filter((group) => {
    const isShown = prompt.includes(`${mark} of ${group}`);
    expect([group, inbox.includes(`group:${group}#`)]).toStrictEqual([group, isShown]);
    return isShown;
  });
}

describe('the tier of an agent', () => {
  it.each([
    ['medium', undefined, ['rw', 'rw', ''], ['named', 'other']],
    ['low', 'wrong', ['r', '', ''], ['named']],
    ['untrusted', 'wrong', ['', '', ''], []],
    ['high', 'right', ['rw', 'rw', 'rw'], ['named', 'other', 'bonus']],
  ] as const)(
    'an agent of the tier %s reads, writes and hears of what its row of the table gives, and keeps its hot context [SOC-27] [SOC-29] [SOC-33] [SOC-91] [SOC-11]',
    async (tier, verdict, operations, news) => {
      await using at = await openScene();
      if (verdict !== undefined) await judgedTo(at, tier, verdict);
      expect(await toldOf(at)).toStrictEqual(news);
      expect(await reached(at.bot)).toStrictEqual(operations);
      const { data: hot } = await at.bot.call('memory_read_hot');
      const patch = { active: { file: 'a.ts' } };
      expect((await at.bot.call('memory_write_hot', { patch, expected_version: hot.version })).isError).toBe(false);
      const { data: open } = await at.bot.call('memory_write_warm', { ...note, visibility: 'public' });
      expect(open).toMatchObject({ error: 'capability_denied', detail: 'visibility' });
    },
  );

  it('what the parent promises does not raise what the owner of a group found: the agent writes elsewhere, and not there [SOC-83]', async () => {
    await using at = await openScene();
    await at.ann.call('agent_capabilities', { agent_id: at.id, trust_floor: 'high' });
    const items: string[] = [];
    for (let n = 0; n < 3; n++)
      items.push((await at.bot.call('memory_write_warm', { ...note, group: 'other' })).data.item_id);
    for (const item_id of items) await at.ben.call('memory_assess', { item_id, verdict: 'wrong', basis: 'user' });
    expect(await reached(at.bot)).toStrictEqual(['rw', '', 'rw']);
    expect(await toldOf(at)).toStrictEqual(['named', 'bonus']);
  });

  it('a verdict ends what it forbids before the next input, and no capability widens what the tier gives [SOC-27] [SOC-33]', async () => {
    await using at = await openScene();
    await judgedTo(at, 'low', 'wrong');
    await at.ann.call('agent_capabilities', {
      agent_id: at.id,
      capabilities: { memory_read: null, memory_write: null },
    });
    expect(await reached(at.bot)).toStrictEqual(['', '', '']); // it names no group any more
    const { data } = await at.ann.call('agent_capabilities', { agent_id: at.id });
    expect(data.effective.memory_write).toMatchObject({ groups: [], visibility: [] });
  });
});
