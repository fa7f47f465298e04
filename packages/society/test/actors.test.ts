/** Who acted in the name of an entity: a person, a program or a rule that uses its handle, or a model in its session. */
import type { Actor } from '@reprise/contracts';
import { defineAgent } from 'reprise';
import { groupTools } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { comeBack, crewOf as comebackCrew, openPlace } from './support/comeback.js';
import { agentOf, openOffice, writeTo } from './support/crew.js';
import { agentOf as agentBelow, openOffice as openWith } from './support/office.js';

const ANN = { kind: 'person', id: 'ann' } as const;
const OPERATOR = { kind: 'program', id: 'operator' } as const;
const CHECKER = { kind: 'program', id: 'checker' } as const;
const RULE = { kind: 'rule', id: 'any_wrong_vote', granted_by: 'ann' } as const;

type Kernel = Awaited<ReturnType<typeof openOffice>>['world']['kernel'];

/** The facts of a kind, in the order of the journal. */
async function factsOf(kernel: Kernel, name: string) {
  const found: Readonly<Record<string, unknown> & { by?: Actor }>[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records)
      if (record.kind === 'fact' && record.name === `society/${name}@1`) found.push(record.value as never);
    if (seq >= kernel.head.seq) break;
  }
  return found;
}

const actorsOf = async (kernel: Kernel, name: string) => (await factsOf(kernel, name)).map(({ by }) => by);

describe('who acts in the name of an entity', () => {
  it('a verdict names who gave it: the person, a program or a rule with its rights, or the app [SOC-75]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const { office } = at;
    const crew = office.group('crew');
    await crew.open();
    for (const name of ['ann', 'ben']) await crew.join(name);
    const ann = office.entity('ann');
    const bot = await agentOf(office, office.entity('ben'));
    await crew.join(bot.id);
    for (const n of [1, 2, 3, 4]) await writeTo(at, bot, 'crew', `Item ${n}.`);
    const by = [
      { as: 'human:ann' },
      { as: 'human:ann', actor: CHECKER },
      { as: 'human:ann', actor: RULE },
      {},
    ] as const;
    for (const [i, who] of by.entries())
      await ann.assess(`group:crew#${i + 1}`, { verdict: 'wrong', basis: 'user' }, who);
    expect(await actorsOf(world.kernel, 'Assessed')).toEqual([ANN, CHECKER, RULE, OPERATOR]);
    await world.verify();
  });

  it('a verdict of a model is one of its session, and never one of the person whose session it is [SOC-75]', async () => {
    const judge = defineAgent({ name: 'judge', model: 'main', instructions: 'Judge.', tools: [...groupTools] });
    const args = { item_id: 'group:crew#1', verdict: 'wrong', basis: 'cross_reference' };
    const steps = [{ calls: [{ tool: 'memory_assess', args }] }, { text: 'wrong' }];
    const at = await openWith({ agents: [judge], steps });
    await using world = at.world;
    const [ann, ben] = [await at.office.human('ann'), await at.office.human('ben')];
    const crew = at.office.group('crew');
    await crew.open();
    for (const name of ['ann', 'ben']) await crew.join(name);
    const bot = at.office.entity(await agentBelow(ben));
    await crew.join(bot.id);
    await writeTo(at, bot, 'crew', 'An item.');
    await (await ann.send(judge, 'Judge it.', { as: 'human:ann', session: 'judge' })).text();
    const [by] = await actorsOf(world.kernel, 'Assessed');
    expect(by).toMatchObject({ kind: 'node' });
    expect((by as { id: string }).id).toContain('judge');
  });

  it('a change of status and of capabilities names who asked for it, and what time does names nobody [SOC-75]', async () => {
    const at = await openOffice(['ann']);
    await using world = at.world;
    const ann = at.office.entity('ann');
    const bot = await agentOf(at.office, ann);
    await ann.setStatus(bot.id, 'activate', { as: 'human:ann' });
    await ann.capabilities(bot.id, { capabilities: { tools: [] } }, { as: 'human:ann', actor: CHECKER });
    await ann.setStatus(bot.id, 'suspend', { as: 'human:ann', actor: RULE });
    await ann.setStatus(bot.id, 'deactivate');
    expect(await actorsOf(world.kernel, 'StatusChanged')).toEqual([ANN, RULE, OPERATOR]);
    expect(await actorsOf(world.kernel, 'CapabilitiesChanged')).toEqual([CHECKER]);
    await world.verify();
  });

  it('a review names who decided, and a merge that nobody decided is one of a rule [SOC-75]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await comebackCrew(at);
    await comeBack(at, ann, bot.id, { items: [{ text: 'One.' }, { text: 'Two.' }], sessions: 1 });
    const [staged] = await ann.staging(bot.id);
    expect(staged).toBeDefined();
    await ann.review(bot.id, { reject: true }, { as: 'human:ann', actor: CHECKER });
    expect(await actorsOf(world.kernel, 'Reviewed')).toEqual([CHECKER]);
  });

  it('a group names who opened, silenced and ended it, and whom a member called for [SOC-75]', async () => {
    const at = await openOffice(['ann']);
    await using world = at.world;
    const ann = at.office.entity('ann');
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    await crew.join('ann', 'owner');
    await ann.use('group_emcon', { group_id: 'crew', on: true }, { as: 'human:ann', actor: RULE });
    await crew.emcon(false, { actor: ANN });
    await crew.leave('ann', { actor: CHECKER });
    await crew.end('archive', { actor: ANN });
    expect(await actorsOf(world.kernel, 'EmconSet')).toEqual([RULE, ANN]);
    expect(await actorsOf(world.kernel, 'MemberLeft')).toEqual([CHECKER]);
    expect(await actorsOf(world.kernel, 'GroupEnded')).toEqual([ANN]);
    expect(await actorsOf(world.kernel, 'GroupOpened')).toEqual([OPERATOR]);
  });

  it('a person cannot act as another person, and from outside no command names for whom it is sent [SOC-75]', async () => {
    const at = await openOffice(['ann', 'ben']);
    await using world = at.world;
    const ann = at.office.entity('ann');
    const bot = await agentOf(at.office, ann);
    const ben = { kind: 'person', id: 'ben' } as const;
    await expect(ann.setStatus(bot.id, 'activate', { as: 'human:ann', actor: ben })).rejects.toMatchObject({
      code: 'cap_denied',
    });
    const crew = at.office.group('crew');
    await crew.open();
    const forged = { name: 'society/Emcon@1', value: { on: true, actor: ben } };
    await world.kernel.request(['society/Group@1', 'crew'], forged, { actor: CHECKER });
    expect(await actorsOf(world.kernel, 'EmconSet')).toEqual([CHECKER]);
  });
});
