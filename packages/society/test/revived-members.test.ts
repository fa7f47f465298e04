/** Members whose cells have failed and were revived: they hear of their groups again. */
import { defineAgent } from 'reprise';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { openOffice } from './support/office.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

describe('a member whose cell was revived', () => {
  it('A revived member of a chatty group hears of the items that were written meanwhile and from then on, and its next run is shown them [SOC-113]', async () => {
    const prompts: string[] = [];
    const step = ({ messages }: { readonly messages: unknown }) => {
      prompts.push(JSON.stringify(messages));
      return { text: '.' };
    };
    await using scene = await openOffice({ failing: true, agents: [worker], steps: Array(1).fill(step) });
    const { office, world } = scene;
    const [ann, ben] = [await office.human('ann'), await office.human('ben')];
    const crew = office.group('crew');
    await crew.open({ culture: { broadcast_eagerness: 'chatty' } });
    for (const id of ['ann', 'ben']) await crew.join(id);
    const write = (content: string) => ann.memory.write({ type: 'note', visibility: 'group', group: 'crew', content });
    await failEntity(world, 'ben');
    await write('Said meanwhile.');
    await ben.revive();
    await write('Said afterwards.');
    const { events } = await ben.use('events_poll', {});
    const heard = events.map(({ payload }) => (payload as { readonly item_id?: string }).item_id);
    expect(heard).toEqual(['group:crew#1', 'group:crew#2']);
    await (await ben.send(worker, 'Go on.')).text();
    expect(prompts.map((prompt) => [prompt.includes('meanwhile'), prompt.includes('afterwards')])).toEqual([
      [true, true],
    ]);
    await world.verify();
  });
});
