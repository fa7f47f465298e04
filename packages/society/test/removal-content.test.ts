/** What is left of the hot context of a removed agent: no byte that others do not link as well (SOC-38). */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournalRecord, Ref } from '@reprise/contracts';
import { putErasable, type Store } from '@reprise/kernel';
import { type AgentWorld, defineAgent, memory } from 'reprise';
import { defineOwnerTool } from 'reprise/org';
import type { Entity } from 'reprise/society';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addedTo } from '../src/call/encode.js';
import type { L1State } from '../src/pure/index.js';
import { cellCall } from './support/kept.js';
import { agentOf, openOffice } from './support/office.js';
import { mark, marksIn, marksOf, STORES, writeMarks } from './support/traces.js';

/** By which a model notes what it works on in the hot context of its agent. */
const noteTool = defineOwnerTool({
  name: 'memory_write_hot',
  description: 'Notes what you work on.',
  args: z.strictObject({ text: z.string() }),
  keep: async ({ text }, { content, session: { key } }) => {
    const asked = { patch: { active: { text } }, expected_version: 2 };
    return { expected_version: 2, ...(await addedTo('memory_write_hot', asked, { content, entity: key, id: key })) };
  },
});

const HOUR = 3_600_000;
const ITEM_SCOPE = 'private:ann';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-removal-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A person with an agent, and an agent below that. */
async function chainIn(store: Store) {
  const at = await openOffice({ store: store as ReturnType<typeof memory> });
  const ann = await at.office.human('ann');
  const upper = at.office.entity(await agentOf(ann));
  const lower = at.office.entity(await agentOf(upper));
  return { ...at, ann, upper, lower };
}

type Chain = Awaited<ReturnType<typeof chainIn>>;

/** Deactivates an agent, and lets its time of grace pass. */
async function remove({ ann, clock }: Pick<Chain, 'ann' | 'clock'>, agent: Entity): Promise<void> {
  await ann.setStatus(agent.id, 'deactivate', { grace: '3600s' });
  await clock.advance(HOUR);
  await clock.settle();
  expect((await agent.state())?.status).toBe('removed');
}

/** What the world says about erased hot contexts. */
async function reportsOf({ world }: Chain): Promise<unknown[]> {
  const isReport = (record: JournalRecord) => record.kind === 'fact' && record.name === 'society/HotContextErased@1';
  const reports: unknown[] = [];
  for await (const { seq, records } of world.kernel.frames()) {
    for (const record of records.filter(isReport)) reports.push('value' in record ? record.value : undefined);
    if (seq === world.kernel.head.seq) break;
  }
  return reports;
}

/** The content of the only item in the private store of the person. */
async function contentOfItem({ kernel }: AgentWorld): Promise<Ref> {
  const items = await kernel.table(['memory/Store@1', ITEM_SCOPE], 'items', {});
  expect(items).toHaveLength(1);
  const [content_ref] = items.map(([, item]) => (item as unknown as { readonly content_ref: Ref }).content_ref);
  return content_ref as Ref;
}

describe('the hot context of a removed agent', () => {
  it.each(STORES)(
    'in %s, no byte of it is left, and its archive can be erased as well [SOC-38] [SOC-39]',
    async (_where, openIn) => {
      await using at = await chainIn(openIn(dir));
      const { ann, upper, lower, world } = at;
      for (const agent of [upper, lower]) await writeMarks(agent);
      expect(await ann.use('memory_read_hot', { entity_id: upper.id })).toMatchObject({
        ephemeral: { mark: mark(upper, 'ephemeral') },
      });
      expect(await marksIn(world, dir)).toEqual([...marksOf(upper), ...marksOf(lower)].sort());

      await remove(at, upper);
      expect(await marksIn(world, dir), 'its parent keeps the archive').toEqual(
        [mark(upper, 'goal'), ...marksOf(lower)].sort(),
      );
      expect(await reportsOf(at)).toEqual([{ agent_id: upper.id, erased: 5, kept: 0, kept_by: [] }]);

      await world.kernel.erase({ refs: [await contentOfItem(world)] });
      expect(await marksIn(world, dir)).toEqual(marksOf(lower).sort());
      expect(await world.verify()).toMatchObject({ erased: 6, returned: 0, unverified: 0 });
    },
  );

  it('in a fork that is made after its removal, there is nothing of it, and the fork goes on [SOC-38]', async () => {
    await using at = await chainIn(memory());
    const { upper, lower, world, clock } = at;
    for (const agent of [upper, lower]) await writeMarks(agent);
    await remove(at, upper);
    const into = memory();
    await world.kernel.fork({ at: world.kernel.head.seq, into, mode: 'live' });
    await using fork = await openOffice({ store: into, clock });
    expect(await marksIn(fork.world, dir)).toEqual([mark(upper, 'goal'), ...marksOf(lower)].sort());
    await fork.world.verify();
    await world.verify();
  });

  it('an item of a store that it links as well stays, and the world says which store keeps it [SOC-38]', async () => {
    await using at = await chainIn(memory());
    const { ann, upper, world } = at;
    await ann.use('memory_write_warm', { type: 'note', content: 'Mine.', visibility: 'private' });
    const content_ref = await contentOfItem(world);
    const own = await putErasable(world.kernel.content, new TextEncoder().encode('"own"'));
    const patch = { ephemeral: { ref: content_ref, bytes: 5 }, active: { ref: own, bytes: 5 } };
    const { is_error } = await cellCall(world, upper, 'memory_write_hot', { patch, expected_version: 1 });
    expect(is_error).toBe(false);
    await remove(at, upper);
    expect([await world.kernel.content.has(content_ref), await world.kernel.content.has(own)]).toEqual([true, false]);
    const kept_by = [['memory/Store@1', ITEM_SCOPE]];
    expect(await reportsOf(at)).toEqual([{ agent_id: upper.id, erased: 1, kept: 1, kept_by }]);
    await world.verify();
  });

  it('what its own session passed on to it is gone as well [SOC-38]', async () => {
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Note.', tools: [noteTool] });
    const calls = [{ tool: 'memory_write_hot', args: { text: 'A secret.' } }];
    const at = await openOffice({ agents: [worker], steps: [{ calls }, { text: 'Noted.' }] });
    await using world = at.world;
    const ann = await at.office.human('ann');
    const upper = at.office.entity(await agentOf(ann, { tools: ['memory_write_hot'] }));
    expect(await (await upper.send(worker, 'Go.')).text()).toBe('Noted.');
    const { fields } = (await world.kernel.state(['society/L1@1', upper.id])) as unknown as L1State;
    const ref = fields.active?.ref as Ref;
    expect(await world.kernel.content.has(ref)).toBe(true);
    await remove({ ...at, ann }, upper);
    expect(await world.kernel.content.has(ref)).toBe(false);
    await world.verify();
  });

  it('the hot context of an agent beside it that links the same content keeps it [SOC-38]', async () => {
    await using at = await chainIn(memory());
    const { ann, upper, office, world } = at;
    const beside = office.entity(await agentOf(ann));
    const both = await putErasable(world.kernel.content, new TextEncoder().encode('"both"'));
    const patch = { ephemeral: { ref: both, bytes: 6 } };
    for (const agent of [upper, beside])
      await cellCall(world, agent, 'memory_write_hot', { patch, expected_version: 1 });
    await remove(at, upper);
    expect(await world.kernel.content.has(both)).toBe(true);
    const kept_by = [['society/Entity@1', beside.id]];
    expect(await reportsOf(at)).toEqual([{ agent_id: upper.id, erased: 0, kept: 1, kept_by }]);
    await world.verify();
  });
});
