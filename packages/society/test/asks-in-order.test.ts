/** Narrowings of several entities above an agent whose cell has failed: the newest of each dimension counts once it is revived. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice } from './support/office.js';

const WIDE = ['agent_*', 'memory_*'];
const NARROW = ['memory_search'];

/** Ann, an agent of hers, and one below that: both above it may narrow it. */
async function openScene() {
  const scene = await openOffice({ failing: true });
  const ann = await scene.office.human('ann');
  const parent = scene.office.entity(await agentOf(ann));
  const agent = scene.office.entity(await agentOf(parent));
  const tools = async () =>
    (await scene.world.kernel.rights(`cell:society/Entity@1/${agent.id}`)).effective?.exercise.may.tool;
  return { ...scene, ann, parent, agent, tools };
}

describe.each(['lives', 'fails'] as const)('an agent whose cell %s while two entities above narrow it', (cell) => {
  it.each([
    [
      'the parent last, and further',
      [
        ['ann', WIDE],
        ['parent', NARROW],
      ],
      NARROW,
    ],
    [
      'the one further up last, and further',
      [
        ['parent', WIDE],
        ['ann', NARROW],
      ],
      NARROW,
    ],
    [
      'the parent twice around the one further up',
      [
        ['parent', WIDE],
        ['ann', WIDE],
        ['parent', NARROW],
      ],
      NARROW,
    ],
  ] as const)('an agent has what was asked for last: %s [SOC-138] [SOC-118]', async (_, asks, expected) => {
    await using at = await openScene();
    if (cell === 'fails') await failEntity(at.world, at.agent.id);
    for (const [who, tools] of asks) {
      await at[who].capabilities(at.agent.id, { capabilities: { tools: [...tools] } });
      await at.clock.advance(1_000);
    }
    if (cell === 'fails') await at.agent.revive();
    expect(await at.tools()).toStrictEqual(expected);
    expect((await at.world.verify()).unverified).toBe(0);
  });
});

it('what an entity further up narrowed while the cell of an agent had failed stands once it is revived, also where the parent asked for more afterwards [SOC-138]', async () => {
  await using at = await openScene();
  await failEntity(at.world, at.agent.id);
  await at.ann.capabilities(at.agent.id, { capabilities: { tools: NARROW } });
  await at.parent.capabilities(at.agent.id, { capabilities: { tools: WIDE } });
  expect(await at.tools()).toStrictEqual(NARROW);
  await at.agent.revive();
  expect(await at.tools()).toStrictEqual(NARROW);
  await at.parent.capabilities(at.agent.id, { capabilities: { tools: WIDE } });
  expect(await at.tools()).toStrictEqual(WIDE); // as its parent may, once it has carried all out
});
