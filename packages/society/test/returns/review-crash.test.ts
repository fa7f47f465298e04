/** Returns and their reviews whose process dies at each append: before what it appends is there, and just after. */

import { RepriseError } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../../conformance/dying-store.js';
import { spread } from '../../../../conformance/part.js';
import { memoryVault } from '../../src/adapters/vault.js';
import { l1At } from '../../src/index.js';
import { type Came, crewOf, openPlace, type Place, returnArgs } from '../support/comeback.js';

/** As many as one return has. */
const ITEMS = Array.from({ length: 24 }, (_, i) => ({ text: `Item ${i + 1}.` }));
const APPROVED = ITEMS.map((_, i) => i + 1).filter((item) => item !== 2);

/** A world with an agent. @returns its store, its keys, and the id of the agent */
async function withAgent() {
  const [clock, keys, inner] = [new VirtualClock(), memoryVault(), memory()];
  const at = await openPlace(inner, { clock, keys });
  await using _ = at.world;
  const { bot } = await crewOf(at);
  return { clock, keys, inner, agent: bot.id };
}

type Withheld = Awaited<ReturnType<typeof withAgent>> & { args?: object | undefined };

/** The agent comes back, and all but one of its items are approved. */
async function returnAndReview(at: Place, kept: Withheld): Promise<void> {
  const ann = at.office.entity('ann');
  const { nonce } = await ann.challenge(kept.agent, 'return', { id: 'challenge' });
  const args = async () => (kept.args ??= await returnArgs(at, kept.agent, { items: ITEMS, sessions: 2, nonce }));
  const send = async () => ann.answerTo('agent_return', (await args()) as never, { id: 'return' });
  const came = (await send().catch((error: unknown) => {
    if (!(error instanceof RepriseError) || error.code !== 'blob_missing') throw error;
    kept.args = undefined; // their content died with a process that had sent nothing yet
    return send();
  })) as unknown as Came;
  const { staging_group_id } = came.value;
  const [, n] = /-(\d+)$/.exec(staging_group_id) ?? [];
  const items = APPROVED.map((item) => `staging:${kept.agent}.${n}#${item}`);
  await ann.answerTo('staging_review', { staging_group_id, decision: 'partial', items }, { id: 'review' });
}

/** Does it on a store that may die, and opens it again as often as needed. */
async function untilDone(store: DyingStore, kept: Withheld): Promise<void> {
  for (;;) {
    const deaths = store.deaths;
    const unlessDead = (error: unknown): undefined => {
      if (store.deaths === deaths) throw error;
    };
    const at = await openPlace(store, kept).catch(unlessDead);
    if (at === undefined) continue;
    await returnAndReview(at, kept).catch(unlessDead);
    await at.world.close().catch(() => undefined);
    if (store.deaths === deaths) return;
  }
}

async function appendsOf(): Promise<number> {
  const kept = await withAgent();
  const store = new DyingStore(kept.inner);
  await untilDone(store, kept);
  return store.appends;
}

describe('given an agent that comes back', () => {
  it('a process that dies at any append of a return and its review stages once, writes each approved item once, and the rejected one never [SOC-52]', async () => {
    const appends = await appendsOf();
    expect(appends).toBeGreaterThan(4);
    const places = Array.from({ length: appends }, (_, i) => i + 1);
    for (const side of ['before', 'after'] as const) {
      for (const n of spread(3, places)) {
        const kept = await withAgent();
        const store = new DyingStore(kept.inner);
        store.dieAt(n, side);
        await untilDone(store, kept);
        const at = await openPlace(kept.inner, kept);
        await using world = at.world;
        const ann = at.office.entity('ann');
        const texts = (await ann.memory.list('crew')).items.map(({ content }) => content);
        const { synced } = (await world.kernel.state(l1At(kept.agent))) as { synced: { count: number } | null };
        const left = await ann.staging(kept.agent);
        const written = APPROVED.map((item) => `Item ${item}.`);
        expect([n, side, texts, synced?.count, left]).toEqual([n, side, written, 2, []]);
        expect((await world.verify()).unverified).toBe(0);
      }
    }
  });
});
