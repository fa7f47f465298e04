/** Memory of entities and groups, through the gate of a world. */
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { keptText } from './support/kept.js';

describe('an entity', () => {
  it('shares a group, and nothing of another entity [SOC-35] [SOC-36]', async () => {
    const part = society();
    await using world = await openWorld({ store: memory(), models: { main: script() }, parts: [part] });
    const office = world.part(part);
    const [ann, ben] = [await office.human('ann'), await office.human('ben')];
    const crew = office.group('crew');
    await crew.open({ owner: 'ann' });
    expect(await crew.join('ann', 'owner')).toBe(true);
    expect(await crew.join('ben', 'viewer')).toBe(true);
    expect(await crew.members()).toStrictEqual({ ann: 'owner', ben: 'viewer' });
    const text = await keptText(world, 'Bodies are limited to 1 MiB.');
    const item = { type: 'note', visibility: 'group', group: 'crew', ...text };
    expect(await ann.answerTo('memory_write_warm', item)).toMatchObject({
      value: { item_id: 'group:crew#1', state: 'live' },
    });
    expect(await ben.answerTo('memory_write_warm', item)).toMatchObject({
      value: { error: 'capability_denied', detail: 'visibility' },
    });
    expect(await ben.answerTo('memory_search', { query: 'limited bodies' })).toMatchObject({
      value: { items: [{ item_id: 'group:crew#1' }], withheld: 0 },
    });
    expect(await ben.answerTo('memory_read_warm', { group: 'crew' })).toMatchObject({
      value: { items: [{ item_id: 'group:crew#1', author: 'ann' }] },
    });
    expect(await ben.answerTo('events_poll', {})).toMatchObject({
      value: {
        events: [{ event: 'memory.written', payload: { item_id: 'group:crew#1', type: 'note', group_id: 'crew' } }],
        dropped: 0,
      },
    });
    await crew.leave('ben');
    expect(await ben.answerTo('memory_read_warm', { group: 'crew' })).toMatchObject({
      value: { error: 'capability_denied', detail: 'visibility' },
    });
    await world.verify();
  });
});
