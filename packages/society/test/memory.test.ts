/** Memory of entities and groups, through the gate of a world. */
import { describe, expect, it } from 'vitest';
import { agentOf, openOffice, told, writeTo } from './support/crew.js';

const DENIED = { error: 'capability_denied', detail: 'visibility' };

describe('the stores of a society', () => {
  it('stores follow membership and role: a viewer reads, a member writes, and one that has left does neither [SOC-31]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    expect([await crew.join('ann', 'owner'), await crew.join('ben', 'viewer')]).toStrictEqual([true, true]);
    expect(await crew.members()).toStrictEqual({ ann: 'owner', ben: 'viewer' });
    const text = 'Bodies are limited to 1 MiB.';
    expect(await writeTo(at, ann, 'crew', text)).toStrictEqual({ item_id: 'group:crew#1', state: 'live' });
    expect(await writeTo(at, ben, 'crew', text)).toStrictEqual(DENIED);
    const found = { items: [{ item_id: 'group:crew#1' }], withheld: 0 };
    expect(await told(ben, 'memory_search', { query: 'limited bodies' })).toMatchObject(found);
    const listed = { items: [{ item_id: 'group:crew#1', author: 'ann', state: 'live' }] };
    expect(await told(ben, 'memory_read_warm', { group: 'crew' })).toMatchObject(listed);
    await crew.leave('ben');
    expect(await told(ben, 'memory_read_warm', { group: 'crew' })).toStrictEqual(DENIED);
    expect(await told(ben, 'memory_read_warm', { item_id: 'group:crew#1' })).toStrictEqual(DENIED);
    await world.verify();
  });

  it('stores keep private items to their owner, and public ones from the writes of agents [SOC-30] [SOC-32]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
    const bot = await agentOf(at.office, ben);
    const secret = { type: 'note', visibility: 'private', content: 'The vault is in the cellar.' };
    expect(await told(ann, 'memory_write_warm', secret)).toStrictEqual({ item_id: 'private:ann#1', state: 'live' });
    for (const other of [ben, bot]) {
      expect(await told(other, 'memory_read_warm', { item_id: 'private:ann#1' })).toStrictEqual(DENIED);
      expect(await told(other, 'memory_search', { query: 'vault cellar' })).toMatchObject({ items: [] });
      expect(await told(other, 'memory_write_warm', { ...secret, visibility: 'public' })).toStrictEqual(DENIED);
    }
    expect(await told(ann, 'memory_search', { query: 'vault' })).toMatchObject({
      items: [{ item_id: 'private:ann#1' }],
    });
    await world.verify();
  });

  it('stores keep an item of little confidence, and find it when an entity other than its author has validated it [SOC-28]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
    const crew = at.office.group('crew');
    await crew.open();
    for (const name of ['ann', 'ben']) await crew.join(name);
    const doubted = await writeTo(at, ann, 'crew', 'The port may be 8080.', { confidence: 0.299_999 });
    expect(doubted).toStrictEqual({ item_id: 'group:crew#1', state: 'quarantined' });
    const sure = await writeTo(at, ann, 'crew', 'The port is open.', { confidence: 0.3 });
    expect(sure).toStrictEqual({ item_id: 'group:crew#2', state: 'live' });
    const search = () => told(ben, 'memory_search', { query: 'port' });
    expect(await search()).toMatchObject({ items: [{ item_id: 'group:crew#2' }] });
    const refused = { code: 'not_authorized', standing: 'self' };
    expect(await told(ann, 'memory_validate', { item_id: 'group:crew#1' })).toStrictEqual(refused);
    const validated = { item_id: 'group:crew#1', state: 'live' };
    expect(await told(ben, 'memory_validate', { item_id: 'group:crew#1' })).toStrictEqual(validated);
    const ids = ((await search()) as { items: { item_id: string }[] }).items.map(({ item_id }) => item_id).sort();
    expect(ids).toStrictEqual(['group:crew#1', 'group:crew#2']);
    await world.verify();
  });

  it('stores take a share as a copy that does not change with its origin [SOC-46]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const ann = at.office.entity('ann');
    const [crew, guests] = [at.office.group('crew'), at.office.group('guests')];
    for (const group of [crew, guests]) {
      await group.open();
      await group.join('ann');
    }
    await writeTo(at, ann, 'crew', 'The old limit is 1 MiB.');
    const share = { item_id: 'group:crew#1', group_id: 'guests' };
    const copy = { item_id: 'group:guests#1', origin: 'group:crew#1', state: 'live' };
    expect(await told(ann, 'memory_share', share)).toStrictEqual(copy);
    expect(await told(ann, 'memory_share', share)).toStrictEqual(copy); // the same share is the same copy
    await writeTo(at, ann, 'crew', 'The new limit is 2 MiB.', { supersedes: 'group:crew#1' });
    expect(await told(ann, 'memory_read_warm', { item_id: 'group:crew#1' })).toMatchObject({
      items: [{ state: 'superseded' }],
    });
    expect(await told(ann, 'memory_read_warm', { item_id: 'group:guests#1' })).toMatchObject({
      items: [{ state: 'live' }],
    });
    expect(await told(ann, 'memory_search', { query: 'old limit', groups: ['guests'] })).toMatchObject({
      items: [{ item_id: 'group:guests#1' }],
    });
    await world.verify();
  });

  it('stores refuse writes in emergency mode, and reads go on [SOC-47]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const ann = at.office.entity('ann');
    const bot = await agentOf(at.office, ann);
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    for (const id of ['ann', bot.id]) await crew.join(id);
    await writeTo(at, bot, 'crew', 'Before.');
    expect(await told(bot, 'group_emcon', { group_id: 'crew', on: true })).toStrictEqual({ code: 'not_authorized' });
    expect(await told(ann, 'group_emcon', { group_id: 'crew', on: true })).toStrictEqual({
      group_id: 'crew',
      emcon: true,
    });
    for (const one of [ann, bot]) {
      expect(await writeTo(at, one, 'crew', 'During.')).toMatchObject({ code: 'emcon' });
      expect(await told(one, 'memory_read_warm', { group: 'crew' })).toMatchObject({
        items: [{ item_id: 'group:crew#1' }],
      });
    }
    await told(ann, 'group_emcon', { group_id: 'crew', on: false });
    expect(await writeTo(at, bot, 'crew', 'After.')).toStrictEqual({ item_id: 'group:crew#2', state: 'live' });
    await world.verify();
  });
});
