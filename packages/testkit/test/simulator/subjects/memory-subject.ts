/** Stores of memories under the simulator: operations of an organization that are asked for again after crashes. */
import type { JournalRecord, Ref, Value } from '@reprise/contracts';
import { defineApp, type EffectDefinition, openKernelWorld, type World } from '@reprise/kernel';
import {
  type MemoryItem,
  memorySearch,
  memoryWhy,
  operatePlan,
  storeAt,
  storeReducer,
  type WriteOperation,
} from '@reprise/org/contracts';
import type { SimulationSubject } from '@reprise/testkit/simulator';
import { atDesk, DESK, type DeskAct, deskReducer } from '../../../../../conformance/memory/desk.js';
import { quickMemory } from '../../../../../conformance/quick-memory.js';

const SCOPE = 'project:simulated';
const MAX = 4;
const app = defineApp({ reducers: [storeReducer, deskReducer], plans: [operatePlan] });

/** Something that was asked for. */
interface Asked {
  readonly id: string;
  readonly acts: readonly DeskAct[];
}

/** Worlds with a store of memories. */
export const memorySubject: SimulationSubject = {
  name: 'memories',
  app,
  store: quickMemory,
  sometimes: ['a memory was stored again', 'a memory was archived'],
  begin({ choices, clients, outside, random, sometimes, time }) {
    const asked: Asked[] = [];
    /** The items by the tags of the writes that made them. */
    const known = new Map<string, number>();
    const ask = (world: World, { id, acts }: Asked) =>
      clients.ask({ id }, () => world.request(DESK, { name: 'law/Do@1', value: { acts } as unknown as Value }, { id }));
    const anew = (ref: Ref): Asked => {
      const key = `k${choices.below(12)}`;
      const id = 1 + choices.below(8);
      const expires_at = choices.once(4) ? time.wall() + choices.below(60_000) : null;
      const origin = atDesk({ message: 1 });
      const store: WriteOperation = {
        op: 'store',
        key,
        origin,
        content_ref: ref,
        summary_ref: ref,
        tags: [],
        expires_at,
      };
      const operation = choices.pick([
        store,
        store,
        { op: 'reinforce' as const, id },
        { op: 'demote' as const, id },
        { op: 'move' as const, id, state: choices.pick(['live', 'archived', 'quarantined'] as const) },
        { op: 'read' as const, ids: [id] },
        { op: 'search' as const, query: 'word', k: 3, all: false },
      ]);
      const tag = operation.op === 'store' ? key : `${operation.op} ${asked.length}`;
      const one = { id: `m${asked.length}`, acts: [{ store: SCOPE, operation, tag }] as unknown as DeskAct[] };
      asked.push(one);
      return one;
    };
    return {
      open: async (process, store) => {
        const adapter = (effect: unknown, payload: Value) =>
          outside.adapter(process, effect as EffectDefinition, { payload: () => payload, concurrency: 2 });
        return openKernelWorld({
          store,
          app,
          adapters: [
            adapter(memorySearch, { items: [], text_ref: null }),
            adapter(memoryWhy, { chain: [], text_ref: null }),
          ],
          clock: process.clock,
          random,
          recheckEvery: 1,
          snapshotEvery: choices.pick([0, 5]),
        });
      },
      acts: [
        {
          name: 'opens the store',
          weight: 2,
          execute: (world) =>
            clients.ask({ id: 'open' }, () =>
              world.request(DESK, { name: 'law/Open@1', value: { stores: [SCOPE], max: MAX } }, { id: 'open' }),
            ),
        },
        {
          name: 'does an operation',
          weight: 8,
          execute: async (world) => ask(world, anew(await world.content.put(new TextEncoder().encode('some words')))),
        },
        {
          name: 'asks again',
          weight: 3,
          execute: (world) => (asked.length === 0 ? undefined : ask(world, choices.pick(asked))),
        },
      ],
      read: (frame) => {
        for (const { tag, written } of writesIn(frame)) {
          const before = known.get(tag);
          if (before !== undefined && before !== written.id)
            throw new Error(`the write ${tag} is item ${before} and item ${written.id}`);
          if (written.existed) sometimes.happened('a memory was stored again');
          known.set(tag, written.id);
        }
        if (frame.some((one) => one.kind === 'fact' && one.name === 'memory/Archived@1'))
          sometimes.happened('a memory was archived');
      },
      check: async (world) => {
        const state = (await world.state(storeAt(SCOPE))) as unknown as { next: number; live: number } | undefined;
        if (state === undefined) return;
        const items = (await world.table(storeAt(SCOPE), 'items')) as unknown as [string, MemoryItem][];
        const order = await world.table(storeAt(SCOPE), 'order');
        const live = items.filter(([, item]) => item.state === 'live').map(([id]) => Number(id));
        const listed = order.map(([, id]) => Number(id)).sort((a, b) => a - b);
        if (items.length !== state.next - 1) throw new Error(`${items.length} items, and the next is ${state.next}`);
        if (String(listed) !== String(live)) throw new Error(`items ${live} are live, and ${listed} are listed`);
        if (state.live !== live.length || live.length > MAX) throw new Error(`${live.length} of ${MAX} are live`);
      },
    };
  },
};

interface Wrote {
  readonly tag: string;
  readonly written: { readonly id: number; readonly existed: boolean };
}

function writesIn(frame: readonly JournalRecord[]): readonly Wrote[] {
  return frame.flatMap((one) => {
    if (one.kind !== 'fact' || one.name !== 'memory/Did@1') return [];
    const { op, tag, written } = one.value as unknown as { op: string; tag: string; written: Wrote['written'] | null };
    return op === 'store' && written !== null ? [{ tag, written }] : [];
  });
}
