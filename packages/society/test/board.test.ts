/** Boards: the news of groups that are not chatty is kept once, and read by members when their culture says. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defineAgent, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../../conformance/bundle.js';
import { type BoardHeard, boardHeard } from './support/board-border.js';
import { agentOf, type Office, openOffice, told, writeTo } from './support/crew.js';

interface Polled {
  readonly events: readonly {
    readonly n: number;
    readonly event: string;
    readonly payload: { readonly item_id?: string };
  }[];
  readonly next: number;
  readonly dropped: number;
}

/** A moderate group of Ann, Ben, and so many agents of Ben. */
async function crewOf(at: Office, agents: number) {
  const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
  const crew = at.office.group('crew');
  await crew.open({ culture: { broadcast_eagerness: 'moderate' } });
  const bots = [];
  for (let n = 0; n < agents; n++) bots.push(await agentOf(at.office, ben));
  for (const id of ['ann', 'ben', ...bots.map((bot) => bot.id)]) await crew.join(id);
  return { ann, ben, bots, crew };
}

/** The records of the frames after a number that go to these entities. */
async function recordsTo({ world: { kernel } }: Office, ids: readonly string[], after: number): Promise<number> {
  let count = 0;
  for await (const { seq, records } of kernel.frames(after + 1)) {
    for (const record of records) if (record.kind === 'event' && ids.includes(record.to[1])) count++;
    if (seq === kernel.head.seq) break;
  }
  return count;
}

const written = ({ events }: Polled) => events.flatMap(({ payload }) => payload.item_id ?? []);

describe('given a moderate group', () => {
  it('a write sends nothing to the other members, and each reads it when it polls, once [SOC-16] [SOC-42] [SOC-61]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const { ann, bots } = await crewOf(at, 6);
    for (const bot of bots) await told(bot, 'events_poll', {}); // what is there of the joining
    const before = world.kernel.head.seq;
    await writeTo(at, ann, 'crew', 'The API limits bodies.');
    expect(
      await recordsTo(
        at,
        bots.map(({ id }) => id),
        before,
      ),
    ).toBe(0);
    for (const bot of bots) {
      const { events, next } = (await told(bot, 'events_poll', {})) as Polled;
      expect(events.at(-1)).toMatchObject({ n: next, event: 'memory.written', payload: { item_id: 'group:crew#1' } });
      expect(written((await told(bot, 'events_poll', { after: next })) as Polled)).toStrictEqual([]);
    }
    expect(written((await told(ann, 'events_poll', {})) as Polled)).toStrictEqual([]); // its own write is no news
    await world.verify();
  });

  it('a member that leaves hears nothing more, in the frame of its leaving, and a new one nothing from before [SOC-21] [SOC-43]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const { ann, bots, crew } = await crewOf(at, 2);
    const [leaver, other] = bots as [(typeof bots)[0], (typeof bots)[0]];
    await writeTo(at, ann, 'crew', 'One.');
    await crew.leave(leaver.id);
    expect(await world.kernel.table(leaver.address, 'boards')).toStrictEqual([]);
    await writeTo(at, ann, 'crew', 'Two.');
    expect(written((await told(leaver, 'events_poll', {})) as Polled)).toStrictEqual([]);
    expect(written((await told(other, 'events_poll', {})) as Polled)).toStrictEqual(['group:crew#1', 'group:crew#2']);
    await crew.join(leaver.id);
    await writeTo(at, ann, 'crew', 'Three.');
    expect(written((await told(leaver, 'events_poll', {})) as Polled)).toStrictEqual(['group:crew#3']);
    await world.verify();
  });

  it('what leaves the board before it is read is counted, and one that follows the inbox reads it from the journal [SOC-42]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const { ann, ben } = await crewOf(at, 0);
    await told(ben, 'events_poll', {});
    for (let n = 0; n < 300; n++) await writeTo(at, ann, 'crew', `Item ${n}`);
    const polled = (await told(ben, 'events_poll', { limit: 4 })) as Polled;
    expect([polled.dropped, written(polled)[0]]).toStrictEqual([44, 'group:crew#45']);
    const all: string[] = [];
    const numbers: number[] = [];
    for await (const { n, payload } of ben.inbox()) {
      const { item_id } = payload as { readonly item_id?: string };
      numbers.push(n);
      if (item_id !== undefined) all.push(item_id);
      if (all.length === 300) break;
    }
    expect(all).toStrictEqual(Array.from({ length: 300 }, (_, n) => `group:crew#${n + 1}`));
    expect(numbers).toStrictEqual([...numbers].sort((a, b) => a - b));
    await world.verify();
  });

  it('a follower of an inbox hears of news when it is posted, and of each once [SOC-41] [SOC-42]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const { ann, ben } = await crewOf(at, 0);
    const heard: string[] = [];
    const following = (async () => {
      for await (const { payload } of ben.inbox()) {
        const { item_id } = payload as { readonly item_id?: string };
        if (item_id !== undefined) heard.push(item_id);
        if (heard.length === 3) return;
      }
    })();
    for (const text of ['One.', 'Two.', 'Three.']) await writeTo(at, ann, 'crew', text);
    await following;
    expect(heard).toStrictEqual(['group:crew#1', 'group:crew#2', 'group:crew#3']);
    await world.verify();
  });

  it('the next run of a member shows the first words of what was written since the last, once; a taciturn group shows none [SOC-16]', async () => {
    const shown = async (broadcast_eagerness: 'moderate' | 'taciturn') => {
      const part = society();
      const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
      const seen: string[] = [];
      const step = ({ messages }: { readonly messages: unknown }) => {
        seen.push(JSON.stringify(messages));
        return { text: '.' };
      };
      const models = { main: script(step as never, step as never) };
      await using world = await openWorld({ store: memory(), models, agents: [worker], parts: [part] });
      const office = world.part(part);
      const [ann, ben] = [await office.human('ann'), await office.human('ben')];
      const crew = office.group('crew');
      await crew.open({ culture: { broadcast_eagerness } });
      for (const name of ['ann', 'ben']) await crew.join(name);
      await writeTo({ world } as never, ann, 'crew', 'Bodies have at most 1 MiB.');
      for (const text of ['Go.', 'On.']) await (await ben.send(worker, text)).text();
      await world.verify();
      return seen.map((prompt) => prompt.split('Bodies have at most 1 MiB.').length - 1);
    };
    expect(await shown('moderate')).toStrictEqual([1, 1]); // the second prompt has it as history, not again
    expect(await shown('taciturn')).toStrictEqual([0, 0]);
  });
});

describe('given entities that ask a board themselves', () => {
  const RIGHT: BoardHeard = { member: [1, 2, 3], late: [2, 3], leaver: [], stranger: [] };

  it('a group tells its news to members, from their joining on, and to nobody else [SOC-21] [SOC-43] [SOC-61]', async () => {
    expect(await boardHeard()).toStrictEqual(RIGHT);
  });

  it.each([
    [
      'a group keeps the row of a member that left',
      "  ctx.table('members').delete(entity);\n  unsubscribe(draft, entity, ctx);",
      '  unsubscribe(draft, entity, ctx);',
    ],
    [
      'news from before a joining is told',
      '{ ...row, stands: true, posted: draft.posted }',
      '{ ...row, stands: true, posted: 0 }',
    ],
  ])('news is found at the wrong entity when %s', async (_name, from, to) => {
    const group = fileURLToPath(new URL('../src/pure/reducer/group/group.ts', import.meta.url));
    const folder = mkdtempSync(path.join(tmpdir(), 'reprise-society-mutant-'));
    const outfile = path.join(folder, 'mutant.mjs');
    try {
      const entry = fileURLToPath(new URL('./support/board-border.ts', import.meta.url));
      await bundle(entry, outfile, { planted: { file: group, from, to } });
      const mutant = (await import(pathToFileURL(outfile).href)) as typeof import('./support/board-border.js');
      expect(await mutant.boardHeard()).not.toStrictEqual(RIGHT);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
