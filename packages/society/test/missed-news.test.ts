/** What members hear that their groups published while a cell between them had failed. */
import { defineAgent, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { script } from 'reprise/providers';
import type { Entity } from 'reprise/society';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { changedUses } from './support/failing.js';
import { openOffice } from './support/office.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** Ann and Ben in a group, and what the next run of Ben is shown. */
async function crewOf(broadcast_eagerness: 'chatty' | 'moderate', members: readonly string[] = ['ann', 'ben']) {
  const prompts: string[] = [];
  const step = ({ messages }: { readonly messages: unknown }) => {
    prompts.push(JSON.stringify(messages));
    return { text: '.' };
  };
  const scene = await openOffice({ failing: true, agents: [worker], steps: Array(3).fill(step) });
  const [ann, ben] = [await scene.office.human('ann'), await scene.office.human('ben')];
  const crew = scene.office.group('crew');
  await crew.open({ culture: { broadcast_eagerness } });
  for (const id of members) await crew.join(id);
  const write = (content: string) => ann.memory.write({ type: 'note', visibility: 'group', group: 'crew', content });
  return { ...scene, ann, ben, crew, write, prompts };
}

/** The items of which an entity has heard, in the order in which it did. */
async function heardBy(entity: Entity): Promise<readonly unknown[]> {
  const { events } = await entity.use('events_poll', {});
  return events.flatMap(({ payload }) => (payload as { readonly item_id?: string }).item_id ?? []);
}

describe('a member whose cell failed', () => {
  it.each(['chatty', 'moderate'] as const)(
    'a revived member of a %s group hears of every item once, in their order: before the failure, meanwhile and afterwards [SOC-121]',
    async (eagerness) => {
      await using at = await crewOf(eagerness);
      await at.write('Said before.');
      await failEntity(at.world, 'ben');
      for (const text of ['Said meanwhile.', 'Said later.']) await at.write(text);
      await at.ben.revive();
      await at.write('Said afterwards.');
      expect(await heardBy(at.ben)).toEqual([1, 2, 3, 4].map((n) => `group:crew#${n}`));
      await (await at.ben.send(worker, 'Go on.')).text();
      const words = ['before', 'meanwhile', 'later', 'afterwards'];
      expect(words.filter((word) => at.prompts.at(-1)?.includes(`Said ${word}`))).toEqual(words);
      await at.write('Said at last.');
      expect(await heardBy(at.ben)).toHaveLength(5);
      expect((await at.world.verify()).unverified).toBe(0);
    },
  );

  it('a revived member hears nothing of what was published before it joined, and of nothing twice when it fails again [SOC-121]', async () => {
    await using at = await crewOf('chatty', ['ann']);
    await at.write('Said before.');
    await at.crew.join('ben');
    for (let n = 0; n < 2; n++) {
      await failEntity(at.world, 'ben');
      await at.write('Said meanwhile.');
      await at.ben.revive();
    }
    await failEntity(at.world, 'ben');
    await at.ben.revive();
    expect(await heardBy(at.ben)).toEqual(['group:crew#2', 'group:crew#3']);
  });

  it('a member that left while its cell had failed hears nothing of what was published since [SOC-121]', async () => {
    await using at = await crewOf('chatty');
    await failEntity(at.world, 'ben');
    await at.crew.leave('ben');
    await at.write('Said meanwhile.');
    await at.ben.revive();
    expect(await heardBy(at.ben)).toEqual([]);
  });
});

const TOPIC = ['flow/Topic@1', 'society/crew'] as const;

/** The society whose topics fail of what they are sent, while `state.fails`. */
function failingTopics() {
  const state = { fails: false };
  const change = (one: ReducerDefinition): ReducerDefinition => ({
    ...one,
    reduce: (draft, event, ctx) => {
      if (state.fails && event.name.startsWith('flow/')) throw new Error('a defect of this test');
      return one.reduce(draft, event, ctx);
    },
  });
  const part = society();
  const failing = (one: ReducerDefinition) => (one.name.startsWith('flow/Topic') ? change(one) : one);
  const reducers = (part.reducers ?? []).map(failing);
  return { state, part: { ...part, reducers, uses: changedUses(part, failing) } };
}

/** A chatty group of Ann whose topic has failed of an item that she wrote. */
async function withFailedTopic() {
  const { state, part } = failingTopics();
  const world = await openWorld({ store: memory(), models: { main: script() }, parts: [part], onError: () => {} });
  const office = world.part(part);
  const [ann, ben, cem] = [await office.human('ann'), await office.human('ben'), await office.human('cem')];
  const crew = office.group('crew');
  await crew.open({ culture: { broadcast_eagerness: 'chatty' } });
  for (const id of ['ann', 'cem']) await crew.join(id);
  const write = (content: string) => ann.memory.write({ type: 'note', visibility: 'group', group: 'crew', content });
  state.fails = true;
  await write('Said while the topic failed.');
  state.fails = false;
  expect((await world.trouble()).map(({ where }) => where)).toEqual([TOPIC]);
  return { world, ben, cem, crew, write, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('a group whose topic has failed', () => {
  it('members of a group whose topic failed hear what was published meanwhile, and go on hearing when the topic is revived [SOC-121]', async () => {
    await using at = await withFailedTopic();
    expect(await heardBy(at.cem)).toEqual(['group:crew#1']);
    await at.world.kernel.revive([...TOPIC]);
    await at.write('Said afterwards.');
    expect(await heardBy(at.cem)).toEqual(['group:crew#1', 'group:crew#2']);
  });

  it('a member that joins meanwhile hears of what is written from then on, and is subscribed when the topic is revived [SOC-122] [FLOW-13]', async () => {
    await using at = await withFailedTopic();
    await at.crew.join('ben');
    await at.write('Said after the joining.');
    expect(await heardBy(at.ben)).toEqual(['group:crew#2']);
    await at.world.kernel.revive([...TOPIC]);
    const subscribers = await at.world.kernel.table([...TOPIC], 'subscribers', {});
    expect(subscribers.map(([key]) => key)).toContain('society/Entity@1/ben');
    await at.write('Said afterwards.');
    expect(await heardBy(at.ben)).toEqual(['group:crew#2', 'group:crew#3']);
  });
});
