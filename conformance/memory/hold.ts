/** Random operations of an organization on its stores, against the reference; and where each item comes from. */
import { type AnyAdapter, defineApp, memory, openKernelWorld, verifyStore, type World } from '@reprise/kernel';
import { openViews, readViews, type Views } from '@reprise/kernel/views';
import {
  keepText,
  memoryItems,
  memoryOutcomes,
  memoryPlaces,
  memoryRanks,
  memorySearch,
  memoryText,
  operatePlan,
  provenanceOf,
  type ReadItem,
  searchItems,
  storeAt,
  storeReducer,
} from '@reprise/org';
import { VirtualClock } from '@reprise/testkit';
import { atDesk, DESK, type DeskAct, deskReducer } from './desk.js';
import { type ReferenceOperation, type ReferenceOutcome, ReferenceStore, referenceRank } from './reference.js';

/** What the operations came to. */
export interface Held {
  readonly operations: number;
  readonly items: number;
  readonly refused: number;
  readonly existed: number;
  readonly dangling: number;
  readonly searches: number;
  readonly frames: number;
}

const STORES = ['project:small', 'project:large'] as const;
const MAX = [30, 2_000] as const;
const BATCH = 50;
const HOUR = 3_600_000;
const WORDS = [
  'login',
  'token',
  'cache',
  'upload',
  'limit',
  'table',
  'index',
  'page',
  'queue',
  'retry',
  'café',
  '東京',
];
const QUERIES = ['login token', 'cache', 'upload limit retry', 'cafe', '東京 page', 'nothing'];
const VIEWS = [memoryItems, memoryRanks, memoryPlaces, memoryOutcomes, memoryText];
const app = defineApp({ reducers: [storeReducer, deskReducer], plans: [operatePlan] });

/** Stands for the texts of a reading: what is shown is not looked at here. */
const shown: AnyAdapter = {
  effect: memorySearch,
  name: 'shown',
  doExecute: async () => ({ status: 'ok', payload: { items: [], text_ref: null } }),
} as unknown as AnyAdapter;

/**
 * Does random operations in a world, and looks at everything afterwards.
 *
 * @throws Error the first difference from the reference, with the seed
 */
export async function holdOperations(operations: number, seed: number): Promise<Held> {
  const run = new Run(seed);
  try {
    return await run.play(operations);
  } catch (error) {
    throw new Error(`${(error as Error).message}\nseed ${seed}, after ${run.done} operations`, { cause: error });
  }
}

type Places = Record<'message' | 'task' | 'result' | 'narrative', number>;

class Run {
  done = 0;
  readonly #random: () => number;
  readonly #clock = new VirtualClock();
  readonly #store = memory();
  readonly #references = STORES.map((_, i) => new ReferenceStore(MAX[i] ?? 1));
  readonly #places: Places = { message: 0, task: 0, result: 0, narrative: 0 };
  #refused = 0;
  #existed = 0;
  #now = 0;

  constructor(seed: number) {
    this.#random = mulberry(seed);
  }

  async play(operations: number): Promise<Held> {
    const world = await openKernelWorld({ store: this.#store, app, clock: this.#clock, adapters: [shown] });
    try {
      await this.#open(world);
      while (this.done < operations) await this.#batch(world, Math.min(BATCH, operations - this.done));
      for (const [i, scope] of STORES.entries()) await this.#compareItems(world, scope, i);
      const looked = await this.#lookAround(world);
      const frames = world.head.seq + 1;
      await world.close();
      return { operations, refused: this.#refused, existed: this.#existed, frames, ...looked };
    } finally {
      await world.close();
    }
  }

  async #open(world: World): Promise<void> {
    for (const [i, store] of STORES.entries())
      await world.request(DESK, { name: 'law/Open@1', value: { stores: [store], max: MAX[i] ?? 1 } });
    await world.request(DESK, {
      name: 'law/Do@1',
      value: { acts: [this.#place('message'), this.#place('task')] as never },
    });
  }

  /** A batch is one request: its acts take place at one time. */
  async #batch(world: World, size: number): Promise<void> {
    await this.#clock.advance(Math.floor(this.#random() * 60) * HOUR);
    await world.pump();
    this.#now = world.now;
    for (const reference of this.#references) reference.tidy(this.#now);
    const acts: DeskAct[] = [];
    const expected = new Map<string, ReferenceOutcome | null>();
    for (let i = 0; i < size; i++) {
      if (this.#random() < 0.15) {
        acts.push(this.#place(this.#pick(['message', 'task', 'result', 'narrative'] as const)));
        continue;
      }
      const at = this.#random() < 0.5 ? 0 : 1;
      const operation = await this.#operation(world, at);
      const tag = `${this.done + i}`;
      acts.push({ store: STORES[at], operation: operation as never, tag });
      expected.set(tag, null);
      expected.set(tag, this.#references[at]?.operate(operation, this.#now) ?? null);
    }
    const { seq } = await world.request(DESK, { name: 'law/Do@1', value: { acts: acts as never } });
    await this.#compareOutcomes(world, seq, expected);
    this.done += size;
  }

  async #compareOutcomes(world: World, seq: number, expected: ReadonlyMap<string, ReferenceOutcome | null>) {
    let told = 0;
    await world.pump();
    for await (const frame of world.frames(seq)) {
      if (frame.seq === seq && frame.at !== this.#now)
        throw new Error(`the batch took place at ${frame.at}, not ${this.#now}`);
      for (const record of frame.records) {
        if (record.kind !== 'fact' || record.name !== 'memory/Did@1') continue;
        const { tag, code, written } = record.value as {
          tag: string;
          code: string | null;
          written: { id: number; existed: boolean } | null;
        };
        const outcome =
          code !== null ? { code } : written === null ? null : { id: written.id, existed: written.existed };
        same(outcome, expected.get(tag), `operation ${tag}`);
        told++;
        if (code !== null) this.#refused++;
        if (written?.existed === true) this.#existed++;
      }
      if (told >= expected.size || frame.seq >= world.head.seq) break;
    }
    same(told, expected.size, 'the operations that were answered');
  }

  /** States a new place: it comes from earlier ones, and at last from a message. */
  #place(kind: keyof Places): DeskAct {
    const id = ++this.#places[kind];
    const from =
      kind === 'message' ? [] : [{ kind: 'message' as const, id: this.#one('message') }, ...this.#earlier(kind, id)];
    return { place: { kind, id, title: `${kind} ${id}`, from } };
  }

  #earlier(kind: keyof Places, id: number) {
    if (kind === 'task') return this.#places.result === 0 ? [] : [{ kind: 'result' as const, id: this.#one('result') }];
    if (kind === 'result') return [{ kind: 'task' as const, id: this.#one('task') }];
    return id === 1 ? [] : [{ kind: 'narrative' as const, id: id - 1 }];
  }

  #one(kind: keyof Places): number {
    return 1 + Math.floor(this.#random() * Math.max(1, this.#places[kind]));
  }

  async #operation(world: World, at: number): Promise<ReferenceOperation> {
    const size = this.#references[at]?.items.length ?? 0;
    const id = 1 + Math.floor(this.#random() * (size + 1));
    const dice = this.#random();
    if (dice < 0.5 || size === 0) return this.#storing(world, id);
    if (dice < 0.58) {
      const changed = { ...(await this.#text(world)), tags: [this.#pick(WORDS)] };
      return { op: 'update', id, ...changed, ...(this.#random() < 0.3 ? { expires_at: this.#later() } : {}) };
    }
    if (dice < 0.7) return { op: 'reinforce', id };
    if (dice < 0.82) return { op: 'demote', id };
    if (dice < 0.92) return { op: 'read', ids: [id, 1 + Math.floor(this.#random() * (size + 1)), id] };
    return { op: 'move', id, state: this.#pick(['live', 'quarantined', 'archived', 'superseded'] as const) };
  }

  async #storing(world: World, id: number): Promise<ReferenceOperation> {
    const named = {
      ...(this.#random() < 0.6 && this.#places.result > 0 ? { result: this.#one('result') } : {}),
      ...(this.#random() < 0.4 ? { task: this.#one('task') } : {}),
      ...(this.#random() < 0.7 ? { message: this.#one('message') } : {}),
    };
    const origin =
      this.#random() < 0.05 ? null : { ...atDesk(named), ...(this.#random() < 0.03 ? { cell: 'law/Other@1/x' } : {}) };
    return {
      op: 'store',
      key: this.#random() < 0.1 ? 'again' : `key ${this.#random()}`,
      origin: origin as NonNullable<ReferenceOperation['origin']> | null,
      ...(await this.#text(world)),
      tags: this.#random() < 0.3 ? [this.#pick(WORDS), this.#pick(WORDS)] : [],
      ...(this.#random() < 0.15 ? { expires_at: this.#later() } : {}),
      ...(this.#random() < 0.05 ? { supersedes: id } : {}),
    };
  }

  async #text(world: World) {
    const words = Array.from({ length: 1 + Math.floor(this.#random() * 12) }, () => this.#pick(WORDS));
    return keepText(world.content, words.join(' '));
  }

  #later(): number {
    return this.#now + Math.floor(this.#random() * 200 * HOUR);
  }

  async #compareItems(world: World, scope: string, at: number): Promise<void> {
    const expected = this.#references[at]?.items ?? [];
    let after = '';
    let seen = 0;
    for (;;) {
      const page = await world.table(storeAt(scope), 'items', after === '' ? {} : { after });
      for (const [key, value] of page) {
        const item = value as unknown as Omit<ReadItem, 'id'>;
        const { score, uses, revision, last_used_at: lastUsed, state, tags, expires_at: expires, origin } = item;
        const found = { id: Number(key), score, uses, revision, lastUsed, state, tags, expires, origin };
        same(found, expected[seen], `item ${Number(key)} of ${scope}`);
        seen++;
      }
      if (page.length === 0) break;
      after = page.at(-1)?.[0] ?? '';
    }
    same(seen, expected.length, `the items of ${scope}`);
    const state = (await world.state(storeAt(scope))) as unknown as { live: number };
    same(state.live, expected.filter((item) => item.state === 'live').length, `the live items of ${scope}`);
  }

  /** Searches and explanations, in these views and in views that are built again. */
  async #lookAround(world: World): Promise<Pick<Held, 'items' | 'dangling' | 'searches'>> {
    const views = await openViews(world, VIEWS);
    await views.caughtUp();
    const here = await this.#look(views);
    await views.close();
    const reader = await this.#store.openReadonly();
    const again = await readViews(reader, VIEWS);
    same(await this.#look(again), here, 'the searches in views that were built again');
    await again.close();
    same((await verifyStore(reader, { app })).unverified, 0, 'the frames that are not verified');
    await reader.close();
    const { dangling, items, found } = here;
    return { items, dangling, searches: found.length };
  }

  async #look(views: Views) {
    let [dangling, items] = [0, 0];
    const found: (readonly number[])[] = [];
    for (const [at, scope] of STORES.entries()) {
      const reference = this.#references[at]?.items ?? [];
      for (const { id } of reference) {
        const why = await provenanceOf(views, scope, id);
        const ends = why?.chain.some(({ kind }) => kind === 'message') === true;
        if (!ends || why.dangling.length > 0) dangling++;
        items++;
      }
      for (const query of QUERIES) found.push(await this.#search(views, { scope, reference, query }));
    }
    return { dangling, items, found };
  }

  async #search(
    views: Views,
    { scope, reference, query }: { scope: string; reference: ReferenceStore['items']; query: string },
  ): Promise<readonly number[]> {
    const under = [scope, 0];
    const { hits } = await views.text(memoryText).search({ text: query, match: 'any', under, limit: 1_000 });
    const ranked = hits.map(({ id, score }) => {
      const item = reference[Number((id as readonly unknown[])[2]) - 1];
      if (item === undefined || item.state !== 'live')
        throw new Error(`"${query}" finds ${JSON.stringify(id)}, which is not live`);
      return { id: item.id, rank: referenceRank(score, item, this.#now) };
    });
    const expected = ranked.sort((a, b) => b.rank - a.rank || a.id - b.id).slice(0, 10);
    const found = await searchItems(views, scope, { query, k: 10, all: false }, this.#now);
    same(
      found.map(({ id, rank }) => ({ id, rank })),
      expected,
      `the items of "${query}" in ${scope}`,
    );
    return found.map(({ id }) => id);
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }
}

function same(found: unknown, expected: unknown, what: string): void {
  const [one, other] = [text(found), text(expected)];
  if (one !== other) throw new Error(`${what}: ${one}, expected ${other}`);
}

/** A value as text, its keys in order. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Numbers in [0, 1) that follow from a seed. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
