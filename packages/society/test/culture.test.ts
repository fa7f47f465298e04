/** How members of a group hear of what is written: as its culture says, and never at each write in a large group unasked. */
import { describe, expect, it } from 'vitest';
import { writeTo } from './support/crew.js';
import { agentOf, agentWith, hangingTool, openOffice } from './support/office.js';

type Eagerness = 'chatty' | 'moderate' | 'taciturn';

/** A group of so many members, of whom one works in a session while another writes. @returns what the worker hears, and how */
async function heard(
  members: number,
  broadcast_eagerness?: Eagerness,
): Promise<readonly [steers: number, inbox: number]> {
  const { tool, state } = hangingTool();
  const worker = agentWith([tool]);
  await using scene = await openOffice({
    agents: [worker],
    steps: [{ calls: [{ tool: 'hang', args: {} }] }, { text: '.' }],
  });
  const ann = await scene.office.human('ann');
  const team = scene.office.group('team');
  await team.open({ owner: 'ann', culture: broadcast_eagerness === undefined ? {} : { broadcast_eagerness } });
  const ids: string[] = [];
  for (let n = 0; n < members; n++) {
    ids.push(await agentOf(ann));
    await team.join(ids[n] as string);
  }
  const [listener, writer] = [scene.office.entity(ids[0] as string), scene.office.entity(ids[1] as string)];
  await listener.send(worker, 'Go.');
  while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
  const before = scene.world.kernel.head.seq;
  await writeTo(scene as never, writer, 'team', 'The API limits bodies.');
  await scene.clock.advance(0);
  let steers = 0;
  for await (const { seq, records } of scene.world.kernel.frames(before + 1)) {
    for (const record of records) {
      const isSteer = record.kind === 'event' && JSON.stringify(record.event.value).includes('"type":"Steer"');
      if (isSteer && record.to[1] === `${listener.id}/worker`) steers++;
    }
    if (seq === scene.world.kernel.head.seq) break;
  }
  const { value } = await listener.answerTo('events_poll', {});
  const { events } = value as unknown as { readonly events: readonly { readonly event: string }[] };
  return [steers, events.filter(({ event }) => event === 'memory.written').length];
}

describe('given members of a group, of whom one works while another writes', () => {
  it('each member can learn of what is written: at its next step in a chatty group, else from its inbox [SOC-16]', async () => {
    expect(await heard(2, 'chatty')).toStrictEqual([1, 1]);
    expect(await heard(2, 'moderate')).toStrictEqual([0, 1]);
    expect(await heard(2, 'taciturn')).toStrictEqual([0, 1]);
  });

  it('news comes at each write in a group of more than sixteen only when its culture says so [SOC-22]', async () => {
    expect(await heard(16)).toStrictEqual([1, 1]);
    expect(await heard(17)).toStrictEqual([0, 1]);
    expect(await heard(17, 'chatty')).toStrictEqual([1, 1]);
  });
});
