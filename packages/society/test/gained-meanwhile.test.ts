/** What an agent gains while the cell of its maker has failed: it waits for the maker, and stands once that one is back. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice } from './support/office.js';

const NOTE = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' } as const;

/** An agent that a failed one made, and that has joined a group since. */
async function gained() {
  const scene = await openOffice({ failing: true });
  const ann = await scene.office.human('ann');
  const maker = scene.office.entity(await agentOf(ann));
  const agent = scene.office.entity(await agentOf(maker));
  await scene.office.group('crew').open({ owner: 'ann' });
  await scene.office.group('crew').join('ann', 'owner');
  await failEntity(scene.world, maker.id);
  await scene.office.group('crew').join(agent.id);
  return { scene, ann, maker, agent, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

describe('given an agent that joins a group while the cell of its maker has failed', () => {
  it('the agent may not use the group before its maker is back: only the maker widens its rights [SOC-79] [GATE-6]', async () => {
    await using there = await gained();
    const { value } = await there.agent.answerTo('memory_write_warm', NOTE);
    expect(value).toEqual({ error: 'capability_denied', detail: 'visibility' });
  });

  it('the agent may use the group from its first call after the revival of its maker on [SOC-79] [SOC-31]', async () => {
    await using there = await gained();
    await there.maker.revive();
    expect((await there.agent.answerTo('memory_write_warm', NOTE)).value).toMatchObject({ state: 'live' });
    expect((await there.scene.world.verify()).unverified).toBe(0);
  });

  it('an agent that left the group before the revival gains nothing by it [SOC-79]', async () => {
    await using there = await gained();
    await there.scene.office.group('crew').leave(there.agent.id);
    await there.maker.revive();
    const { value } = await there.agent.answerTo('memory_write_warm', NOTE);
    expect(value).toEqual({ error: 'capability_denied', detail: 'visibility' });
  });

  it('a tool that an entity above takes from the agent meanwhile is gone, although a gain of it still waits', async () => {
    await using there = await gained();
    await there.ann.capabilities(there.agent.id, { capabilities: { tools: [] } });
    const rights = await there.scene.world.kernel.rights(`cell:society/Entity@1/${there.agent.id}`);
    expect(rights.effective?.exercise.may.tool ?? 'any').toEqual([]);
    await there.maker.revive();
    await there.agent.answerTo('memory_write_warm', NOTE);
    const later = await there.scene.world.kernel.rights(`cell:society/Entity@1/${there.agent.id}`);
    expect(later.effective?.exercise.may.tool ?? 'any').toEqual([]);
  });
});
