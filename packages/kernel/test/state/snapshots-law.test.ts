/** The leaves of a world over the maps of its snapshots: what is dirty, and what a snapshot writes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { memory } from '../../src/index.js';
import { encode, portableSha256 } from '../../src/pure/codec/index.js';
import { type LeafChange, type LeafKey, leafKey } from '../../src/pure/engine/index.js';
import { LeafTable, type UndoLog } from '../../src/state/leaf-table.js';
import { MerkleMap } from '../../src/state/map/index.js';
import { storedNodes } from '../../src/state/value-nodes.js';
import { SEED } from '../pure/codec/seed.js';

/** Timers, which are resident, and settled effects, which are loaded when they are asked for. */
const KEYS: readonly LeafKey[] = [
  ...[1, 2, 3, 4].map((due) => leafKey(['timer', due, 'lab/Cell@1', 0, 'x', 'bell'])),
  ...[1, 2, 3, 4].map((n) => leafKey(['settled', `e${n}`])),
];

/** A leaf that its kind allows. */
function leafOf({ path: [kind] }: LeafKey, n: number): unknown {
  return kind === 'timer' ? { due: n } : { name: 'lab/call@1', status: 'ok', at: n, to: null };
}

type Step =
  | 'snapshot'
  | 'open'
  | { readonly changes: readonly (readonly [number, number | null])[]; isTakenBack: boolean };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        changes: fc.uniqueArray(fc.tuple(fc.nat(KEYS.length - 1), fc.option(fc.nat(3), { freq: 2 })), {
          selector: ([at]) => at,
          maxLength: 4,
        }),
        isTakenBack: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.constant<Step>('snapshot') },
    { weight: 1, arbitrary: fc.constant<Step>('open') },
  ),
  { maxLength: 25 },
);

/** A table whose every step is compared with a plain map of all leaves. */
class Compared {
  readonly #map: MerkleMap;
  #table: LeafTable;
  #model = new Map<LeafKey, unknown>();
  /** The leaves at the last snapshot. */
  #base = new Map<LeafKey, unknown>();
  #touched = new Set<LeafKey>();
  /** Leaves that are not loaded since the world was opened, and those of them that a frame changed all the same. */
  #unread = new Set<LeafKey>();
  #blind = new Set<LeafKey>();

  constructor(content: Parameters<typeof storedNodes>[0]) {
    this.#map = new MerkleMap(storedNodes(content), portableSha256);
    this.#table = new LeafTable(this.#map);
  }

  async step(step: Step): Promise<void> {
    if (step === 'snapshot') await this.#snapshot();
    else if (step === 'open')
      return this.#open(); // nothing is read, so the next frame may change leaves that are not loaded
    else await this.#frame(step);
    for (const key of KEYS) expect(await this.#table.read(key)).toEqual(this.#model.get(key));
    this.#unread.clear();
    const differ = KEYS.filter((key) => bytesOf(this.#base.get(key)) !== bytesOf(this.#model.get(key)));
    expect(this.#table.dirtyLeaves).toBeGreaterThanOrEqual(differ.length);
    const known = KEYS.filter(
      (key) => this.#touched.has(key) && (this.#base.has(key) || this.#model.has(key) || this.#blind.has(key)),
    );
    expect(this.#table.dirtyLeaves).toBeLessThanOrEqual(known.length);
  }

  async #frame({ changes, isTakenBack }: Exclude<Step, string>): Promise<void> {
    const undo: UndoLog = new Map();
    const made: LeafChange[] = [];
    for (const [at, n] of changes) {
      const key = KEYS[at] as LeafKey;
      made.push({ key, before: this.#model.get(key), after: n === null ? undefined : leafOf(key, n) });
      this.#touched.add(key);
      if (this.#unread.has(key)) this.#blind.add(key);
      else await this.#table.read(key); // as a fold does
    }
    this.#table.apply(made, undo);
    if (isTakenBack) return this.#table.undo(undo);
    for (const { key, after } of made)
      if (after === undefined) this.#model.delete(key);
      else this.#model.set(key, after);
  }

  async #snapshot(): Promise<void> {
    const { ref } = await this.#table.snapshot();
    expect(ref.hex).toBe(await this.#rootOfAll());
    this.#table.rebase(ref);
    this.#base = new Map(this.#model);
    this.#touched.clear();
    this.#blind.clear();
    expect(this.#table.dirtyLeaves).toBe(0);
  }

  /** As a world does that begins with its last snapshot. */
  async #open(): Promise<void> {
    await this.#snapshot();
    const { ref } = await this.#table.snapshot();
    this.#table = new LeafTable(this.#map);
    await this.#table.openAt(ref);
    this.#unread = new Set(KEYS.filter(({ path: [kind] }) => kind === 'settled'));
  }

  /** The root of a map that is made of all leaves at once. */
  async #rootOfAll(): Promise<string> {
    const changes = [...this.#model].map(([key, leaf]) => ({ key, bytes: encode(leaf) }));
    return (await this.#map.update(null, changes)).ref.hex;
  }
}

function bytesOf(leaf: unknown): string {
  return leaf === undefined ? '' : Buffer.from(encode(leaf)).toString('hex');
}

describe('leaves over snapshots', () => {
  it(`whatever comes and goes and is taken back, a snapshot has all leaves, and dirty is what may differ from it (seed ${SEED}) [RPL-8]`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const compared = new Compared((await memory().open()).content);
        for (const step of all) await compared.step(step);
      }),
      { seed: SEED, numRuns: 200 / stepOf(4) },
    );
  });
});
