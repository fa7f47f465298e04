/** What entities hear of the board of a group when they ask it directly, as members and as others. */

import { defineApp, memory, openKernelWorld } from '@reprise/kernel';
import { operatePlan, storeReducer } from '@reprise/org';
import { topic } from '@reprise/org/contracts';
import { ENTITY, GROUP } from '../../src/pure/contracts/cell/names.js';
import { groupReducer } from '../../src/pure/reducer/group/group.js';
import { entityStub } from './entity-stub.js';

/** The numbers of the posts that each entity of the scene heard. */
export interface BoardHeard {
  /** A member from the beginning, one that joined after the first post, one that left after the second, and a stranger. */
  readonly member: readonly number[];
  readonly late: readonly number[];
  readonly leaver: readonly number[];
  readonly stranger: readonly number[];
}

/** Has a member write three items; all entities ask the board for everything at the end. */
export async function boardHeard(): Promise<BoardHeard> {
  const app = defineApp({ reducers: [groupReducer, entityStub, topic, storeReducer], plans: [operatePlan] });
  const policy = [{ send: '*', decision: 'allow' as const }];
  await using world = await openKernelWorld({ store: memory(), app, policy });
  const tell = (cell: readonly [string, string], name: string, value: object) =>
    world.request([...cell], { name, value: value as never });
  const sendAs = (entity: string, name: string, value: object) =>
    tell([ENTITY, entity], 'test/Send@1', { to: [GROUP, 'crew'], name, value });
  const group = (name: string, value: object) => tell([GROUP, 'crew'], name, value);
  const write = (n: number) => sendAs('writer', 'society/Wrote@1', { item_id: `group:crew#${n}`, type: 'note' });

  for (const name of ['writer', 'member', 'late', 'leaver', 'stranger']) await tell([ENTITY, name], 'test/Make@1', {});
  await group('society/OpenGroup@1', { kind: 'group', culture: { broadcast_eagerness: 'taciturn' } });
  for (const entity of ['writer', 'member', 'leaver']) await group('society/Join@1', { entity, role: 'member' });
  await write(1);
  await group('society/Join@1', { entity: 'late', role: 'viewer' });
  await write(2);
  await group('society/Leave@1', { entity: 'leaver' });
  await write(3);
  const heard = async (entity: string): Promise<number[]> => {
    await sendAs(entity, 'society/ReadNews@1', { after: 0, sees: true });
    const { heard: all } = (await world.state([ENTITY, entity])) as unknown as {
      readonly heard: readonly {
        readonly name: string;
        readonly value: { readonly posts?: readonly [number, object][] };
      }[];
    };
    const posts = all.flatMap(({ name, value }) => (name === 'society/News@1' ? (value.posts ?? []) : []));
    return posts.flatMap(([, post]) => {
      const { event, payload } = post as { readonly event: string; readonly payload: { readonly item_id: string } };
      return event === 'memory.written' ? [Number(payload.item_id.split('#')[1])] : [];
    });
  };
  const found = {
    member: await heard('member'),
    late: await heard('late'),
    leaver: await heard('leaver'),
    stranger: await heard('stranger'),
  };
  await world.verify();
  return found;
}
