/** Calls with texts that are sent again under their id. */
import { describe, expect, it } from 'vitest';
import { agentOf, openOffice } from './support/office.js';

describe('a call that is sent again', () => {
  it('a call with texts is one act for its id, also sent again at once, and has the answer of the first', async () => {
    await using at = await openOffice();
    const ann = await at.office.human('ann');
    const note = { type: 'note', visibility: 'private', content: 'Bodies have at most 1 MiB.' } as const;
    const first = await ann.memory.write(note, { id: 'one' });
    const { head } = at.world.kernel;
    const again = await Promise.all(Array.from({ length: 20 }, () => ann.memory.write(note, { id: 'one' })));
    expect(again).toEqual(Array(20).fill(first));
    expect(at.world.kernel.head).toEqual(head);
    const together = await Promise.all(Array.from({ length: 20 }, () => ann.memory.write(note, { id: 'two' })));
    expect(new Set(together.map(({ item_id }) => item_id)).size).toBe(1);
    await expect(ann.memory.read('private:ann#3')).rejects.toMatchObject({ details: { reason: 'item_unknown' } });
    await at.world.verify();
  });

  it('a short text, and a task of a swarm, are compared whole: the same text is one act, another one is refused', async () => {
    await using at = await openOffice();
    const ann = await at.office.human('ann');
    const note = { type: 'note', visibility: 'private', content: 'Short.' } as const;
    const first = await ann.memory.write(note, { id: 'one' });
    expect(await ann.memory.write(note, { id: 'one' })).toEqual(first);
    await expect(ann.memory.write({ ...note, content: 'Other.' }, { id: 'one' })).rejects.toMatchObject({
      code: 'request_conflict',
    });
    const task = { swarm_id: 'none', action: 'delegate', slot: 'scout', task: 'Begin with alpha: the rest.' } as const;
    const answer = (text: string) => ann.answerTo('swarm_task', { ...task, task: text }, { id: 'two' });
    expect(await answer(task.task)).toEqual(await answer(task.task));
    const other = 'Begin with omega: the rest.'; // differs within the bytes that a salt would take
    await expect(answer(other)).rejects.toMatchObject({ code: 'request_conflict' });
  });

  it('another call under an id that was used is refused, and changes nothing', async () => {
    await using at = await openOffice();
    const ann = await at.office.human('ann');
    const bot = await agentOf(ann);
    const note = { type: 'note', visibility: 'private', content: 'Bodies have at most 1 MiB.' } as const;
    await ann.memory.write(note, { id: 'one' });
    await ann.capabilities(bot, {}, { id: 'two' });
    const { head } = at.world.kernel;
    const others = [
      ann.memory.write({ ...note, content: 'Bodies have at most 2 MiB.' }, { id: 'one' }),
      ann.use('memory_search', { query: 'bodies' }, { id: 'one' }),
      ann.use('agent_list', {}, { id: 'two' }),
    ];
    for (const other of others) await expect(other).rejects.toMatchObject({ code: 'request_conflict' });
    expect(at.world.kernel.head).toEqual(head);
  });
});
