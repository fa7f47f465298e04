/** How many groups an entity is a member of. */
import { expect, it } from 'vitest';
import { SOCIETY_BOUNDS } from '../src/index.js';
import { openOffice } from './support/crew.js';

it('an entity is a member of 128 groups: one more is refused, and one that it has left makes room [SOC-31]', async () => {
  const { world, office } = await openOffice(['ann']);
  await using _ = world;
  const groups = Array.from({ length: SOCIETY_BOUNDS.memberships + 1 }, (_unused, n) => office.group(`g${n}`));
  for (const group of groups) await group.open();
  const [first, ...others] = groups;
  const last = others.pop();
  for (const group of [first, ...others]) expect(await group?.join('ann')).toBe(true);
  const isMember = async () => {
    const range = { after: 'g127' };
    const [next] = await world.kernel.table(['society/Entity@1', 'ann'], 'memberships', range);
    return next?.[0] === 'g128';
  };
  expect([await last?.join('ann'), await isMember()]).toEqual([false, false]);
  expect(await first?.join('ann', 'viewer')).toBe(true);
  await first?.leave('ann');
  expect([await last?.join('ann'), await isMember()]).toEqual([true, true]);
  await world.verify();
});
