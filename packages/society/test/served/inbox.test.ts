/** The inbox of an entity as clients follow it. */

import { type CultureIn, society } from '@reprise/society';
import { memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { writeTo } from '../support/crew.js';
import { agentOf } from '../support/office.js';

/** The URIs that clients are told of when an agent writes to a group with this policy, and who may read the first. */
async function toldOf(
  notification_policy: CultureIn['notification_policy'],
  broadcast_eagerness: NonNullable<CultureIn['broadcast_eagerness']> = 'chatty',
) {
  const part = society();
  await using world = await openWorld({ store: memory(), models: {} as never, parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const team = office.group('team');
  await team.open({
    owner: 'ann',
    culture: { notification_policy: notification_policy ?? 'push', broadcast_eagerness },
  });
  const [listener, writer] = [await agentOf(ann), await agentOf(ann)];
  for (const id of [listener, writer]) await team.join(id);
  const before = world.kernel.head.seq;
  await writeTo({ world } as never, office.entity(writer), 'team', 'The API limits bodies.');
  const inbox = world.served[0]?.resources?.[0];
  const uris: string[] = [];
  for await (const frame of world.kernel.frames(before + 1)) {
    uris.push(...((await inbox?.changed?.(frame)) ?? []));
    if (frame.seq === world.kernel.head.seq) break;
  }
  const uri = `society://inbox/${listener}`;
  const own = await inbox?.read(world.kernel.as(`cell:society/Entity@1/${listener}`), uri);
  const foreign = await inbox?.read(world.kernel.as(`cell:society/Entity@1/${writer}`), uri);
  return { told: uris.includes(uri), own: new TextDecoder().decode(own), foreign };
}

describe('given a client that follows the inbox of a member', () => {
  it('the client is told by the durable frame of an event when the culture pushes, and only the member reads it [SOC-41]', async () => {
    for (const eagerness of ['chatty', 'moderate'] as const) {
      const { told, own, foreign } = await toldOf('push', eagerness);
      expect([told, own.includes('memory.written'), foreign]).toStrictEqual([true, true, undefined]);
    }
  });

  it('the client is not told in a silent group, and the event is in the inbox all the same [SOC-41] [SOC-42]', async () => {
    for (const eagerness of ['chatty', 'moderate'] as const) {
      const { told, own } = await toldOf('silent', eagerness);
      expect([told, own.includes('memory.written')]).toStrictEqual([false, true]);
    }
  });
});
