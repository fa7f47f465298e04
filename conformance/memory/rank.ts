/** A store of many memories: what searches find in it, and what a search costs. */

import { defineApp, memory, openKernelWorld } from '@reprise/kernel';
import { portableSha256, toHex } from '@reprise/kernel/codec';
import { openViews } from '@reprise/kernel/views';
import { keepText, memoryItems, memoryRanks, memoryText, operatePlan, searchItems, storeReducer } from '@reprise/org';
import { VirtualClock } from '@reprise/testkit';
import { atDesk, DESK, type DeskAct, deskReducer } from './desk.js';

/** What the searches found. */
export interface RankedMany {
  readonly searches: readonly { readonly query: string; readonly ids: readonly number[] }[];
  /** Of all results with their ranks. */
  readonly digest: string;
  /** The CPU time of a search, in milliseconds. */
  readonly medianMs: number;
}

const SCOPE = 'project:many';
const QUERIES = ['w1 w500', 'w0 w1 w2 w3', 'w1900', 'w5 w70 w900 w1200 w33', 'w17 w18 w19', 'w44'];
const DAY = 86_400_000;
const BATCH = 100;

/** Fills a store, and searches in it. */
export async function rankMany(memories: number): Promise<RankedMany> {
  const clock = new VirtualClock();
  const app = defineApp({ reducers: [storeReducer, deskReducer], plans: [operatePlan] });
  const world = await openKernelWorld({ store: memory(), app, clock });
  try {
    await world.request(DESK, { name: 'law/Open@1', value: { stores: [SCOPE], max: 50_000 } });
    for (let first = 1; first <= memories; first += BATCH) {
      const acts: DeskAct[] = [];
      for (let n = first; n < first + BATCH; n++)
        acts.push(...(await actsOf(n, (text) => keepText(world.content, text))));
      await world.request(DESK, { name: 'law/Do@1', value: { acts: acts as never } });
      if ((first - 1) % 1_000 === 0) await clock.advance(DAY);
    }
    const views = await openViews(world, [memoryItems, memoryRanks, memoryText]);
    await views.caughtUp();
    const times: number[] = [];
    const all: { query: string; ids: number[]; ranks: number[] }[] = [];
    for (let round = 0; round < 8; round++) {
      for (const query of QUERIES) {
        const began = process.cpuUsage();
        const found = await searchItems(views, SCOPE, { query, k: 10, all: false }, world.now);
        const { user, system } = process.cpuUsage(began);
        times.push((user + system) / 1_000);
        if (round === 0) all.push({ query, ids: found.map(({ id }) => id), ranks: found.map(({ rank }) => rank) });
      }
    }
    await views.close();
    const digest = toHex(portableSha256(new TextEncoder().encode(JSON.stringify(all)))).slice(0, 16);
    return { searches: all, digest, medianMs: times.sort((a, b) => a - b)[times.length >> 1] ?? 0 };
  } finally {
    await world.close();
  }
}

/** A memory, and now and then what raises or lowers its score. Words follow from its number: rare ones and frequent ones. */
async function actsOf(n: number, keep: (text: string) => ReturnType<typeof keepText>): Promise<DeskAct[]> {
  const random = numbersOf(n);
  const words = Array.from(
    { length: 20 + (random() % 40) },
    () => `w${Math.floor((random() % 2_000) ** 3 / 4_000_000)}`,
  );
  const operation = {
    op: 'store',
    key: `m${n}`,
    origin: atDesk({ message: 1 }),
    ...(await keep(words.join(' '))),
    tags: [],
  };
  const scored =
    random() % 3 === 0 ? [{ op: random() % 2 === 0 ? 'reinforce' : 'demote', id: 1 + (random() % n) }] : [];
  return [operation, ...scored].map((one, i) => ({ store: SCOPE, operation: one as never, tag: `${n}.${i}` }));
}

/** Whole numbers that follow from a seed. */
function numbersOf(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
