/** What a group, its members and its admins reach: their own stores and no other's. */
import { formatAddress } from '@reprise/contracts';
import type { Entity } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import type { SocietyToolName } from '../src/pure/index.js';
import { agentOf, type Office, openOffice, told, writeTo } from './support/crew.js';

/** The writes of the hostile group; the long form is run with `FLOOD=10000`. */
const FLOOD = Number(process.env.FLOOD ?? 100);

/** A write takes some milliseconds, on a machine that has other work some more; a hang takes for ever. */
const PATIENCE_MS = 600_000 + 60 * FLOOD;

const MARKER = 'A marker that others must not see: xyzzy.';

/** Two groups of one agent and one person each, and what each wrote. */
async function twoCrews() {
  const at = await openOffice();
  const { office } = at;
  const [ann, ben] = [office.entity('ann'), office.entity('ben')];
  const [one, two] = [await agentOf(office, ann), await agentOf(office, ben)];
  for (const [group, members] of [
    ['crew', [ann, one]],
    ['enemies', [ben, two]],
  ] as const) {
    await office.group(group).open({ owner: members[0].id });
    for (const { id } of members) await office.group(group).join(id);
  }
  const secret = { type: 'note', visibility: 'private', content: MARKER };
  for (const entity of [ann, ben, one, two]) {
    await told(entity, 'memory_write_warm', secret);
    await told(entity, 'memory_write_warm', { ...secret, store: 'notes' });
  }
  await writeTo(at, ben, 'enemies', MARKER);
  return { at, ann, ben, one, two };
}

/** The keys of the stores of the world. */
function storeKeys(entities: readonly { readonly id: string }[]): readonly string[] {
  const own = entities.flatMap(({ id }) => [`l1-notes:${id}`, `private:${id}`]);
  return ['group:crew', 'group:enemies', ...own].sort();
}

/** Calls a tool as an agent. Its parent resumes it when its refused calls have suspended it. */
async function attempt(parent: Entity, agent: Entity, tool: SocietyToolName, args: object) {
  const answer = await agent.answerTo(tool, args as never);
  if ((answer.value as { code?: string }).code !== 'agent_not_active') return answer;
  await parent.setStatus(agent.id, 'resume');
  return agent.answerTo(tool, args as never);
}

/** A digest of what a store holds. */
async function digestOf({ world }: Office, scope: string): Promise<string> {
  const at = ['memory/Store@1', scope] as const;
  const items = await world.kernel.table([...at], 'items', {});
  return JSON.stringify([formatAddress([...at]), items]);
}

describe('the stores of a world', () => {
  it('the stores of a world are writable to a member by its own key and that of its group, and readable likewise [SOC-30] [SOC-31] [CAP-13]', async () => {
    const { at, ann, ben, one, two } = await twoCrews();
    await using world = at.world;
    const keys = storeKeys([ann, ben, one, two]);
    const text = { content: 'Mine.' };
    const writable: string[] = [];
    const readable: string[] = [];
    for (const key of [...keys, 'public']) {
      const group = key.startsWith('group:') ? { group: key.slice(6) } : {};
      const args = { type: 'note', visibility: 'group', ...text, ...group, supersedes: `${key}#1` };
      const store = key.startsWith('private:') ? 'private' : 'notes';
      const written = await attempt(ann, one, 'memory_write_warm', {
        ...args,
        ...(key.startsWith('group:') ? {} : { store }),
      });
      if (!written.is_error) writable.push(key);
      if (!(await attempt(ann, one, 'memory_read_warm', { item_id: `${key}#1` })).is_error) readable.push(key);
    }
    expect(writable).toStrictEqual([`l1-notes:${one.id}`, `private:${one.id}`]); // the group has no item yet
    expect(await writeTo(at, one, 'crew', 'Ours.')).toMatchObject({ item_id: 'group:crew#1' });
    expect(readable).toStrictEqual([`l1-notes:${one.id}`, `private:${one.id}`]);
    await world.verify();
  });

  it('the stores of a world give what a member wrote to no inbox but those of its group [SOC-21]', async () => {
    const { at, ann, one, two } = await twoCrews();
    await using world = at.world;
    for (const entity of [ann, one]) {
      const { events } = (await told(entity, 'events_poll', { limit: 256 })) as {
        events: { payload: { group_id?: string } }[];
      };
      expect(events.filter(({ payload }) => payload.group_id === 'enemies')).toStrictEqual([]);
      expect(await told(entity, 'memory_search', { query: 'marker xyzzy', groups: ['enemies'] })).toMatchObject({
        items: [],
      });
    }
    expect(await told(two, 'memory_search', { query: 'marker xyzzy', groups: ['enemies'] })).toMatchObject({
      items: [{ item_id: 'group:enemies#1' }],
    });
    await world.verify();
  });

  it(`private stores stay as they are, whatever a hostile group does (${FLOOD} writes) [SOC-34]`, {
    timeout: PATIENCE_MS,
  }, async () => {
    const { at, ann, ben, one, two } = await twoCrews();
    await using world = at.world;
    const owned = storeKeys([ann, ben, one, two]).filter((key) => !key.startsWith('group:'));
    const before = await Promise.all(owned.map((key) => digestOf(at, key)));
    const enemies = at.office.group('enemies');
    for (const id of ['ann', one.id]) {
      await enemies.join(id, 'member');
      await enemies.leave(id);
      await enemies.join(id, 'admin');
    }
    for (let n = 0; n < FLOOD; n++) await writeTo(at, ben, 'enemies', `Flood ${n}`);
    const text = { content: 'Public.' };
    await told(ben, 'memory_write_warm', { type: 'note', visibility: 'public', group: 'enemies', ...text });
    for (const item_id of ['private:ann#1', `private:${one.id}#1`, `l1-notes:${one.id}#1`]) {
      expect((await ben.answerTo('memory_share', { item_id, group_id: 'enemies' })).is_error).toBe(true);
      expect((await ben.answerTo('memory_validate', { item_id })).is_error).toBe(true);
    }
    await told(ben, 'group_emcon', { group_id: 'enemies', on: true });
    await enemies.end('delete');
    expect(await Promise.all(owned.map((key) => digestOf(at, key)))).toStrictEqual(before);
    expect(await told(ann, 'memory_read_warm', { item_id: 'private:ann#1' })).toMatchObject({
      items: [{ state: 'live' }],
    });
    await world.verify();
  });
});
