/** Cells that have failed, and the cells that made them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NOTICES, type Value, value } from '@reprise/contracts';
import { sqlite } from '@reprise/store-sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deep } from '../../../../../../conformance/part.js';
import {
  creates,
  defineApp,
  defineReducer,
  memory,
  openKernelWorld,
  type Store,
  verifyStore,
  type World,
} from '../../../../src/index.js';
import { recordsOf } from '../../../support/judge.js';
import { TestClock } from '../../../support/test-clock.js';

const KIN = 'kin/Cell@1';
const DEAF = 'kin/Deaf@1';

/** What a cell is to do: `tell` another these steps, `throw`, `spin` without end, `end`, or keep what it does `onFail`. */
type Step =
  | readonly ['tell', string, ...Step[]]
  | readonly ['onFail', ...Step[]]
  | readonly ['throw' | 'end' | 'well' | 'spin'];

const state = z.strictObject({ seen: z.array(z.string()), onFail: z.array(value()), made: z.int() });
const steps = z.strictObject({ steps: z.array(value()) });
const recipe = { state, init: () => ({ seen: [], onFail: [], made: 0 }) };

interface Kin {
  seen: string[];
  onFail: Value[];
  made: number;
}

interface Doing {
  readonly send: (to: readonly [string, string], event: { name: string; value: Value }) => void;
  readonly end: () => void;
  readonly address: readonly [string, string];
}

function perform(draft: Kin, list: readonly Value[], ctx: Doing): void {
  for (const [what, key, ...rest] of list as unknown as readonly (readonly ['tell', string, ...Value[]])[]) {
    const kind = what as Step[0];
    if (kind === 'throw') throw new Error('a defect');
    else if (kind === 'end') ctx.end();
    else if (kind === 'onFail') draft.onFail = [key, ...rest].filter((step) => step !== undefined);
    else if (kind === 'tell')
      ctx.send([KIN, key.replace('*', String(draft.made++))], { name: 'kin/Do@1', value: { steps: rest } });
    else if (kind === 'spin') ctx.send(ctx.address, { name: 'kin/Do@1', value: { steps: [['spin']] } });
    else draft.seen.push(kind);
  }
}

const hearing = defineReducer({
  ...recipe,
  name: KIN,
  events: { 'kin/Do@1': creates(steps), 'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'] },
  reduce(draft, event, ctx) {
    if (event.name === 'kin/Do@1') return perform(draft as Kin, event.value.steps, ctx as unknown as Doing);
    draft.seen.push(`${event.value.cell[1]} ${event.value.code}`);
    perform(draft as Kin, draft.onFail, ctx as unknown as Doing);
  },
});
const unhearing = defineReducer({
  ...recipe,
  name: DEAF,
  events: { 'kin/Do@1': creates(steps) },
  reduce: (draft, event, ctx) => perform(draft as Kin, event.value.steps, ctx as unknown as Doing),
});
const app = defineApp({ reducers: [hearing, unhearing] });

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function file(): Store {
  folders.push(mkdtempSync(path.join(tmpdir(), 'reprise-kin-')));
  return sqlite(path.join(folders.at(-1) ?? '', 'world.db'));
}

async function opened(store: Store = memory()) {
  const world = await openKernelWorld({ store, app, clock: new TestClock(), recheckEvery: 1 });
  const ask = (key: string, ...list: Step[]) =>
    world.request([KIN, key], { name: 'kin/Do@1', value: { steps: list as unknown as Value[] } });
  const seen = async (key: string) => ((await world.state([KIN, key])) as unknown as Kin | undefined)?.seen;
  return { store, world, ask, seen };
}

async function closeVerified(world: World, store: Store): Promise<void> {
  await world.close();
  const reading = await store.openReadonly();
  await verifyStore(reading, { app });
  await reading.close();
}

describe.each([
  ['memory', () => memory()],
  ['SQLite', file],
] as const)('a cell that made one which fails, in %s', (_name, make) => {
  it('a parent gets sys/ChildFailed@1 at once, whatever sent the event that failed the child, and also after a restart [RED-31]', async () => {
    const store = make();
    const first = await opened(store);
    await first.ask('maker', ['tell', 'one'], ['tell', 'two']);
    await first.ask('other', ['tell', 'one', ['throw']]);
    expect([await first.seen('maker'), await first.seen('other')]).toEqual([['one threw'], []]);
    await first.world.close();
    const again = await opened(store);
    await again.ask('other', ['tell', 'two', ['throw']]);
    expect(await again.seen('maker')).toEqual(['one threw', 'two threw']);
    await closeVerified(again.world, store);
  });
});

describe('a cell that made one which fails', () => {
  it('a parent is notified of each failure once, and again when a revived child fails [RED-31]', async () => {
    const { store, world, ask, seen } = await opened();
    await ask('maker', ['tell', 'one'], ['tell', 'one', ['throw']], ['tell', 'one', ['throw']]);
    expect(await seen('maker')).toEqual(['one threw']);
    await world.revive([KIN, 'one']);
    await ask('other', ['tell', 'one', ['throw']]);
    expect(await seen('maker')).toEqual(['one threw', 'one threw']);
    await closeVerified(world, store);
  });

  deep('child failed: cascade', () => {
    it('a parent is notified in a separate cascade when too long a cascade failed its child [RED-31]', async () => {
      const { store, world, ask, seen } = await opened();
      await ask('maker', ['tell', 'one'], ['onFail', ['well']]);
      await ask('one', ['spin']);
      expect(await seen('maker')).toEqual(['one cascade_exceeded', 'well']);
      await closeVerified(world, store);
    });
  });

  deep('child failed: runaway', () => {
    it('a parent that recreates a runaway child is not notified again, so that the world becomes idle [RED-31]', async () => {
      const { store, world, ask, seen } = await opened();
      await ask('maker', ['tell', 'run*'], ['onFail', ['tell', 'run*', ['spin']]]);
      await ask('run0', ['spin']);
      expect(await seen('maker')).toEqual(['run0 cascade_exceeded']);
      await ask('calm', ['well']);
      expect(await seen('calm')).toEqual(['well']);
      await closeVerified(world, store);
    });
  });

  it('a parent without a handler for the notice gets none, and no fact replaces it [RED-31]', async () => {
    const { store, world, ask } = await opened();
    await world.request([DEAF, 'maker'], { name: 'kin/Do@1', value: { steps: [['tell', 'one']] } });
    await ask('other', ['tell', 'one', ['throw']]);
    expect((await recordsOf(store, 'fact')).map(({ name }) => name)).not.toContain('sys/ChildFailed@1');
    await closeVerified(world, store);
  });

  it('a parent that ended and was made again is a new generation and is not notified [RED-31]', async () => {
    const { store, world, ask, seen } = await opened();
    await ask('maker', ['tell', 'one'], ['end']);
    await ask('maker', ['well']);
    await ask('other', ['tell', 'one', ['throw']]);
    expect(await seen('maker')).toEqual(['well']);
    await closeVerified(world, store);
  });

  it('a parent that fails on the notice causes a notice to its own parent [RED-31]', async () => {
    const { store, world, ask, seen } = await opened();
    await ask('top', ['tell', 'middle', ['onFail', ['throw']], ['tell', 'low']]);
    await ask('other', ['tell', 'low', ['throw']]);
    expect(await seen('top')).toEqual(['middle threw']);
    await closeVerified(world, store);
  });
});
