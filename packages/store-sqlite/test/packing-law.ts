/** Random histories of a store, and a model of what it must hold: packed and plain rows give the same frames and blobs. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type Head, type OpenStore, type ReadonlyStore, type StoredFrame } from '@reprise/kernel';
import fc from 'fast-check';
import type { Driver, SqlValue } from '../src/database/driver.js';
import { nodeSha256 } from '../src/database/hash.js';
import { MACHINE } from '../src/database/ports.js';
import { sqlite, sqliteOn } from '../src/store.js';
import { freshDirectory } from './fixtures.js';
import { noise } from './frames.js';

/** One step of a history. */
export type Step =
  | { readonly do: 'append'; readonly sizes: readonly number[]; readonly blobs: readonly number[] }
  | { readonly do: 'erase'; readonly share: number }
  | { readonly do: 'reopen' }
  | { readonly do: 'read'; readonly from: number; readonly length: number };

const SIZES = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 9_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 20_000, max: 70_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(131_072, 131_073, 140_000) },
);

const BLOB_SIZES = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 9_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537) },
);

/** Histories that pack several times. */
export const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        sizes: fc.array(SIZES, { maxLength: 24 }),
        blobs: fc.array(BLOB_SIZES, { maxLength: 16 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('erase' as const), share: fc.double({ min: 0, max: 0.3, noNaN: true }) }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('read' as const), from: fc.nat(400), length: fc.nat(60) }),
    },
  ),
  { minLength: 8, maxLength: 30, size: 'max' },
);

/** Changes what a writer's statement stores. */
export type Bug = (sql: string, params: readonly SqlValue[]) => readonly SqlValue[] | 'leave out';

/** Runs a history against a store and its model. @returns the packs that it made */
export async function run(history: readonly Step[], bug?: Bug): Promise<{ frames: number; blobs: number }> {
  const { dir, remove } = freshDirectory();
  const trial = new Trial(join(dir, 'w.db'), bug);
  try {
    await trial.open();
    for (const step of history) await trial.take(step);
    await trial.reopen();
    await trial.checkAll();
    return await trial.packs();
  } finally {
    await trial.close();
    remove();
  }
}

class Trial {
  #store: OpenStore | undefined;
  #reader: ReadonlyStore | undefined;
  /** A reader that goes on across appends, and the number of its next frame. */
  #slow: { readonly frames: AsyncIterator<StoredFrame>; next: number } | undefined;
  #head: Head = EMPTY_HEAD;
  #erasures = 0;
  readonly #frames: StoredFrame[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #gone = new Set<string>();

  constructor(
    private readonly path: string,
    private readonly bug: Bug | undefined,
  ) {}

  async open(): Promise<void> {
    const { bug } = this;
    const ports = bug === undefined ? MACHINE : { ...MACHINE, driver: async () => buggy(await MACHINE.driver(), bug) };
    this.#store = await sqliteOn(ports, this.path).open();
    this.#reader = await sqlite(this.path).openReadonly();
    this.#slow = { frames: this.#reader.journal.read(0)[Symbol.asyncIterator](), next: 0 };
  }

  async close(): Promise<void> {
    await this.#reader?.close();
    await this.#store?.close();
  }

  async reopen(): Promise<void> {
    await this.close();
    await this.open();
    assert.deepEqual(await this.store.journal.head(), this.#head, 'the head after a reopening');
  }

  get store(): OpenStore {
    assert.ok(this.#store !== undefined);
    return this.#store;
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'append') await this.#append(step.sizes, step.blobs);
    if (step.do === 'erase') await this.#erase(step.share);
    if (step.do === 'reopen') await this.reopen();
    if (step.do === 'read') await this.#read(step.from % (this.#frames.length + 2), step.length);
    await this.#readOn(3);
  }

  async #append(sizes: readonly number[], blobs: readonly number[]): Promise<void> {
    for (const size of blobs) {
      const bytes = content(`blob ${this.#blobs.size} ${size}`, size);
      this.#blobs.set((await this.store.content.put(bytes)).hex, bytes);
    }
    // Again what is stored already, perhaps in a pack.
    for (const bytes of [...this.#blobs.values()].slice(0, 2))
      this.#gone.delete((await this.store.content.put(bytes)).hex);
    const frames = sizes.map((size, i) => frameOf(this.#head.seq + 1 + i, size));
    this.#head = await this.store.journal.append(frames, this.#head);
    this.#frames.push(...frames);
  }

  async #erase(share: number): Promise<void> {
    const every = Math.max(2, Math.round(1 / Math.max(share, 0.01)));
    const doomed = [...this.#blobs.keys()].filter((_, i) => i % every === 1);
    await this.#readOn(Number.POSITIVE_INFINITY); // an erasure waits for no reader
    await this.store.content.erase(
      doomed.map((hex) => Ref.fromHex(hex)),
      this.#erasures++,
    );
    for (const hex of doomed) this.#gone.add(hex);
  }

  async #read(from: number, length: number): Promise<void> {
    const stores = [this.store, this.#reader as ReadonlyStore];
    for (const { journal } of stores) {
      let next = from;
      for await (const frame of journal.read(from, from + length)) this.#check(frame, next++);
      assert.equal(next, Math.max(from, Math.min(from + length + 1, this.#frames.length)), 'the end of a range');
      for (const kind of KINDS) {
        const found = await journal.findLast(kind, from);
        const wanted = this.#frames.findLast((frame) => frame.seq <= from && frame.kind === kind);
        assert.equal(found?.seq, wanted?.seq, `the last ${kind} from ${from}`);
        if (found !== undefined) this.#check(found, found.seq);
      }
      const frame = this.#frames[from];
      if (frame?.key !== undefined) assert.equal(await journal.findKey(frame.key), from, `the key of frame ${from}`);
    }
    const [hex] = [...this.#blobs.keys()].slice(from % (this.#blobs.size || 1));
    for (const { content } of stores) if (hex !== undefined) await this.#checkBlob(content, hex);
  }

  /** The slow reader, some frames further. */
  async #readOn(steps: number): Promise<void> {
    const slow = this.#slow;
    for (let i = 0; slow !== undefined && i < steps; i++) {
      const { value, done } = await slow.frames.next();
      if (done === true) {
        this.#slow = undefined;
        return;
      }
      this.#check(value, slow.next++);
    }
  }

  #check(frame: StoredFrame, seq: number): void {
    const { key, ...wanted } = this.#frames[seq] ?? frameOf(-1, 0);
    assert.deepEqual(
      { ...frame, bytes: hexOf(frame.bytes) },
      { ...wanted, bytes: hexOf(wanted.bytes) },
      `frame ${seq}`,
    );
  }

  async #checkBlob(content: ReadonlyStore['content'], hex: string): Promise<void> {
    const found = await content.get(Ref.fromHex(hex));
    const wanted = this.#gone.has(hex) ? undefined : this.#blobs.get(hex);
    assert.equal(await content.has(Ref.fromHex(hex)), wanted !== undefined, `whether there is blob ${hex}`);
    assert.equal(found && hexOf(found), wanted && hexOf(wanted), `blob ${hex}`);
  }

  async checkAll(): Promise<void> {
    await this.#read(0, this.#frames.length + 10);
    for (let seq = 0; seq < this.#frames.length; seq += 7) await this.#read(seq, 0);
    const { content } = this.#reader as ReadonlyStore;
    for (const hex of this.#blobs.keys()) await this.#checkBlob(content, hex);
    const listed: string[] = [];
    for await (const { hex } of content.list()) listed.push(hex);
    assert.deepEqual(listed.sort(), [...this.#blobs.keys()].filter((hex) => !this.#gone.has(hex)).sort(), 'the list');
  }

  async packs(): Promise<{ frames: number; blobs: number }> {
    const db = (await MACHINE.driver()).open(this.path, 'read');
    const count = (sql: string): number => db.prepare(sql).get()?.[0] as number;
    const made = {
      frames: count('SELECT count(*) FROM frame WHERE size > length(bytes)'),
      blobs: count('SELECT count(*) FROM pack'),
    };
    db.close();
    return made;
  }
}

const KINDS = ['request', 'receipt', 'snapshot', 'absent'];

function frameOf(seq: number, size: number): StoredFrame {
  const digest = (what: string): string => hexOf(nodeSha256(Buffer.from(`${what} ${seq}`)));
  const kind = seq % 11 === 0 ? 'snapshot' : (KINDS[seq % 2] as string);
  const frame = { seq, at: seq * 3, kind, head: digest('head'), bytes: content(`frame ${seq}`, size) };
  return seq % 3 === 0 ? { ...frame, key: digest('key') } : frame;
}

/** Bytes of a size: half of them compress well, as texts do, a fifth not at all. */
function content(name: string, size: number): Uint8Array {
  const all = Buffer.from(noise(name, size));
  if (size % 5 !== 0) Buffer.from(`${name}, `.repeat(Math.ceil(size / 8))).copy(all, 0, 0, size >> 1);
  return new Uint8Array(all);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A driver whose writing statements have a bug. */
function buggy(driver: Driver, bug: Bug): Driver {
  return {
    ...driver,
    open: (path, mode) => {
      const db = driver.open(path, mode);
      return {
        ...db,
        prepare: (sql) => {
          const statement = db.prepare(sql);
          const run = (...params: readonly SqlValue[]): number => {
            const changed = bug(sql, params);
            return changed === 'leave out' ? 1 : statement.run(...changed);
          };
          return { ...statement, run };
        },
      };
    },
  };
}
