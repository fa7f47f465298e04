/** Golden worlds: this build writes the same bytes as before, and replays those that earlier builds stored. */
import { KERNEL_SEMANTICS } from '@reprise/contracts';
import { defineApp, memory, type Store } from '@reprise/kernel';
import { loadWorld, saveWorld, seededRandom, VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { ELSEWHERE, printedAt } from '../elsewhere.js';
import { randomFrom } from '../random.js';
import { counterWorld } from './counter-world.js';
import { expectNamed, expectRefused, flip } from './flips.js';
import { MODELS } from './models.js';
import { partsOf, partsText } from './parts.js';
import { changesOf, findings, type Kept, keptFolders, keptWorlds, readGolden } from './stored.js';
import { GOLDEN_WORLDS, type Golden, goldenWorld, type Outcome, outcomeOf, pinned, sha256, written } from './worlds.js';

const CHECK = new URL('check.ts', import.meta.url);
const REGENERATE = 'if the change is meant: npx tsx --conditions=@reprise/source conformance/golden/check.ts --write';
const SEED = 20_261;

const KEPT = keptFolders()
  .flatMap(keptWorlds)
  .map((kept) => [`${kept.folder}/${kept.golden.name}`, kept] as const);
const UNRELEASED = keptWorlds(`conformance/golden/${KERNEL_SEMANTICS}`);

const stores = new Map<string, Promise<Store>>();
const storeOf = (name: string): Promise<Store> => {
  const store = stores.get(name) ?? written(goldenWorld(name));
  stores.set(name, store);
  return store;
};
const outcomes = new Map<string, Promise<Outcome>>();
const outcomeNow = (name: string): Promise<Outcome> => {
  const outcome = outcomes.get(name) ?? storeOf(name).then((store) => outcomeOf(goldenWorld(name), store));
  outcomes.set(name, outcome);
  return outcome;
};

describe('golden worlds of this build', () => {
  const names = GOLDEN_WORLDS.map(({ name }) => name);

  it('all golden worlds are stored, and no other file is', () => {
    expect(UNRELEASED.map(({ golden }) => golden.name)).toEqual([...names].sort());
    expect(Object.keys(MODELS)).toEqual(names);
  });

  it.each(names)('%s: head, states and all bytes equal the pinned ones [DET-10]', async (name) => {
    expect(pinned(await outcomeNow(name)), REGENERATE).toEqual(readGolden(name));
    expect(readGolden(name).world, REGENERATE).toBe(sha256(await saveWorld(await storeOf(name))));
  });

  it.each(names)('%s: its content equals that of an independent model', async (name) => {
    MODELS[name]?.(await outcomeNow(name));
  });

  it.each(names)('mutant: the model of %s finds an empty cell and a log without its last item', async (name) => {
    const outcome = await outcomeNow(name);
    const { values, logs } = outcome;
    for (const cell of Object.keys(values))
      expect(() => MODELS[name]?.({ ...outcome, values: { ...values, [cell]: {} } }), cell).toThrow();
    for (const [log, items] of Object.entries(logs))
      expect(() => MODELS[name]?.({ ...outcome, logs: { ...logs, [log]: items.slice(0, -1) } }), log).toThrow();
  });

  it('golden worlds have the same bytes in another time zone and language [DET-9]', async () => {
    const elsewhere = JSON.parse(await printedAt(ELSEWHERE, CHECK, '--json')) as Record<string, Golden>;
    for (const name of names) expect(elsewhere[name], name).toEqual(readGolden(name));
  });

  it('a world that differs in anything has another head', async () => {
    const heads = new Set([readGolden('counter').head]);
    const store = memory();
    const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) + 1 });
    await counterWorld.run({ store, clock, random: seededRandom('golden counter') });
    heads.add((await (await store.openReadonly()).journal.head()).digest);
    const other = await written({ ...counterWorld, name: 'another' });
    heads.add((await (await other.openReadonly()).journal.head()).digest);
    expect(heads.size).toBe(3);
  });
});

describe('stored golden worlds', () => {
  it.each(KEPT)('%s: the stored file is unchanged, and this build replays it to the pinned heads', async (_, kept) => {
    expect(await findings(kept)).toEqual([]);
    expect(kept.parts).toBe(partsText(kept.world));
  });

  it.each(KEPT)('%s: its content equals that of the model', async (_, kept) => {
    MODELS[kept.golden.name]?.(await outcomeOf(kept.golden, await loadWorld(kept.world)));
  });
});

describe(`mutant: a byte of a golden world is changed (seed ${SEED}; all of them: scripts/long/golden.ts)`, () => {
  const random = randomFrom(SEED);
  const below = (n: number) => Math.floor(random() * n);

  it.each(KEPT)('%s: the check names the file and the frame and record, or the blob', (_, kept) => {
    for (const part of partsOf(kept.world))
      for (const at of new Set([part.from, part.to - 1, part.from + below(part.to - part.from)]))
        expectNamed(kept, { at, xor: 1 + below(255), part });
  });

  it.each(KEPT)('%s: a verification without the pins refuses it and names the frame', async (_, kept) => {
    for (const part of sampled(partsOf(kept.world), 60, below))
      await expectRefused(kept, { at: part.from + below(part.to - part.from), xor: 1 + below(255), part });
  });

  it.each(KEPT)('%s: the indexes and results in the file are checked as well', async (_, kept) => {
    for (const file of ['parts', 'pins'] as const) {
      const suffix = file === 'pins' ? 'json' : 'parts';
      for (let i = 0; i < 3; i++) {
        const text = kept[file];
        const at = below(text.length - 1);
        const changed = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
        const found = await findings({ ...kept, [file]: changed });
        expect(found, `${suffix}, character ${at}`).toHaveLength(1);
        expect(found[0]).toContain(`${kept.folder}/${kept.golden.name}.${suffix}: `);
      }
    }
  });

  it.each(KEPT)('%s: an additional or missing byte is found', (_, kept) => {
    const longer = new Uint8Array(kept.world.length + 1);
    longer.set(kept.world);
    expect(changesOf({ ...kept, world: longer })).toHaveLength(1);
    expect(changesOf({ ...kept, world: kept.world.subarray(0, -1) })[0]).toContain('frame ');
  });

  it('the message names the place of the changed byte', () => {
    const kept = UNRELEASED.find(({ golden }) => golden.name === 'plans') as Kept;
    const part = partsOf(kept.world).find(({ name }) => name === 'frame 1, record 2 (effect)');
    expect(changesOf(flip(kept, { at: (part?.from ?? 0) + 3, xor: 1 }))).toEqual([
      `${kept.folder}/plans.world: frame 1, record 2 (effect) is not what was kept (bytes ${part?.from} to ${(part?.to ?? 0) - 1})`,
    ]);
  });

  it('a build without a definition that a world was written with is refused', async () => {
    const kept = UNRELEASED[0] as Kept;
    const found = await findings({ ...kept, golden: { ...kept.golden, app: defineApp({ reducers: [] }) } });
    expect(found[0]).toContain('golden/Account@1');
  });
});

/** Some of many, the first and the last among them. */
function sampled<T>(all: readonly T[], count: number, below: (n: number) => number): T[] {
  const some = [all[0], all.at(-1)] as T[];
  while (some.length < count) some.push(all[below(all.length)] as T);
  return some;
}
