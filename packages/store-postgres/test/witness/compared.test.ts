/** What a database lacks of what its witness names: by cases, and in random lives that the database does not know of. */
import { EMPTY_HEAD, type Head, type ReadableJournal, type StoredFrame } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/connection/driver.js';
import type { Hosts } from '../../src/tenure/hosts.js';
import {
  type Admissions,
  compareWorlds,
  expectedOf,
  isBefore,
  readSlots,
  withoutEqual,
} from '../../src/witness/compared.js';
import type { WitnessPlace } from '../../src/witness/place.js';
import { readSlot, Slot, slotName, type WitnessedHead, writeSlot } from '../../src/witness/slot.js';
import { Witness } from '../../src/witness/witness.js';
import { digestOf, FIRST, headOf, memoryPlace, SECOND, scripted, THIRD } from './memory.js';

/** Fixed, so that a red build stays red; a night draws others. */
const SEED = 20_261_130;

const GROUND = { server: 'server', incarnation: FIRST, lease: 'lease' };

const ADMISSIONS: Admissions = {
  order: new Map([
    [FIRST, 1],
    [SECOND, 2],
  ]),
  epochsBefore: 1_000,
};

describe('the head that a world must have', () => {
  const heads = [
    headOf('a', 4),
    headOf('a', 9),
    headOf('a', 6, { incarnation: SECOND }),
    headOf('a', 12, { incarnation: THIRD }),
  ];

  it('the newest head that any slot names counts, also of an incarnation that the database does not know', () => {
    expect(expectedOf(heads, { openedIn: undefined, admissions: ADMISSIONS })?.seq).toBe(12);
    expect(expectedOf([], { openedIn: undefined, admissions: ADMISSIONS })).toBeUndefined();
  });

  it('a world that an operator has let go on must have the heads of that admission and of later ones alone', () => {
    expect(expectedOf(heads, { openedIn: 2, admissions: ADMISSIONS })?.seq).toBe(6);
    expect(expectedOf(heads, { openedIn: 3, admissions: ADMISSIONS })).toBeUndefined();
  });

  it('a world that was let go on must have a head of a later admission that a restore has taken back [FLEET-11]', () => {
    const later = headOf('a', 14, { incarnation: THIRD, epoch: 1_000_001 });
    expect(expectedOf([...heads, later], { openedIn: 2, admissions: ADMISSIONS })).toEqual(later);
  });
});

/** A database of worlds, as the comparison asks it. */
interface Rows {
  readonly heads: Map<string, Head>;
  readonly openedIn: Map<string, number>;
  readonly closedAt: Map<string, number>;
}

function databaseOf({ heads, openedIn, closedAt }: Rows, admissions: Admissions = ADMISSIONS) {
  return scripted(({ text, parameters }): readonly Row[] => {
    if (text.includes('FROM reprise.admission'))
      return [...admissions.order].map((row) => [...row, admissions.epochsBefore]);
    if (!text.includes('FROM unnest')) return [];
    const names = (parameters[0] as readonly string[]).map((hex) => Buffer.from(hex, 'hex').toString());
    return names.flatMap((name): Row[] => {
      const head = heads.get(name);
      if (head === undefined) return [];
      const digest = new Uint8Array(Buffer.from(head.digest, 'hex'));
      return [[Buffer.from(name), 7, head.seq, digest, openedIn.get(name) ?? null, closedAt.get(name) ?? null]];
    });
  });
}

describe('a database beside its witness', () => {
  const rows = (heads: [string, number][]): Rows => ({
    heads: new Map(heads.map(([world, seq]) => [world, { seq, digest: digestOf(world, seq) }])),
    openedIn: new Map(),
    closedAt: new Map(),
  });
  const before = async (database: Rows, heads: readonly WitnessedHead[]) => {
    const place = memoryPlace();
    await place.put(slotName('db', 3), writeSlot({ heads, droppedThrough: 0 }));
    const compared = await compareWorlds(databaseOf(database), await readSlots(place, 'db'), 'x');
    return compared.filter(isBefore).map(({ had }) => had.world);
  };

  it('a world is before its witness with fewer frames, with another frame in place of the last one, or without a row', async () => {
    const database = rows([
      ['same', 3],
      ['behind', 2],
      ['ahead', 5],
      ['other', 3],
    ]);
    database.heads.set('other', { seq: 3, digest: digestOf('other', 3, 1) });
    const heads = ['same', 'behind', 'ahead', 'other', 'missing'].map((world) => headOf(world, 3));
    expect(await before(database, heads)).toEqual(['behind', 'missing', 'other']);
  });

  it('a world that is closed already for a frame, or was let go on without it, is not named again', async () => {
    const database = rows([
      ['closed', 2],
      ['opened', 2],
      ['closed at less', 2],
    ]);
    database.closedAt.set('closed', 3).set('closed at less', 2);
    database.openedIn.set('opened', 2);
    expect(
      await before(
        database,
        ['closed', 'opened', 'closed at less'].map((world) => headOf(world, 3)),
      ),
    ).toEqual(['closed at less']);
  });

  it('a process keeps one head a world and incarnation, and after the comparison none of a world that is as it was acknowledged', async () => {
    const place = memoryPlace();
    const wandered = [
      headOf('same', 1),
      headOf('same', 2),
      headOf('same', 3),
      headOf('same', 2, { incarnation: SECOND }),
    ];
    for (const [slot, head] of wandered.entries()) {
      const heads = [head, headOf('ahead', slot), headOf('ahead too', 2)];
      await place.put(slotName('db', slot), writeSlot({ heads, droppedThrough: 0 }));
    }
    const witnessed = await readSlots(place, 'db');
    expect([...(witnessed.worlds.get('same') ?? [])].map(({ seq }) => seq).sort()).toEqual([2, 3]);
    expect([...witnessed.worlds.values()].flat()).toHaveLength(4);
    const database = rows([
      ['same', 3],
      ['ahead', 5],
      ['ahead too', 9],
    ]);
    const left = withoutEqual(witnessed, await compareWorlds(databaseOf(database), witnessed, 'x'));
    expect([...left.worlds.keys()].sort()).toEqual(['ahead', 'ahead too']);
    database.heads.set('same', { seq: 3, digest: digestOf('same', 3, 1) });
    database.closedAt.set('same', 3);
    const other = withoutEqual(witnessed, await compareWorlds(databaseOf(database), witnessed, 'x'));
    expect([...other.worlds.keys()]).toContain('same'); // it has another frame in place of that one
  });

  it('a slot that cannot be read is an error of the comparison', async () => {
    const place = memoryPlace();
    await place.put(slotName('db', 255), new Uint8Array([1, 2, 3]));
    await expect(readSlots(place, 'db')).rejects.toMatchObject({
      code: 'store_failed',
      details: { where: 'memory, witness/db/255' },
    });
  });

  it('a witness says from when on it names every world, by the slot that forgot last', async () => {
    const place = memoryPlace();
    await place.put(slotName('db', 0), writeSlot({ heads: [], droppedThrough: 5 }));
    await place.put(slotName('db', 1), writeSlot({ heads: [headOf('a', 1)], droppedThrough: 9 }));
    expect(await readSlots(place, 'db')).toMatchObject({ completeSince: 9 });
  });
});

describe('a database that went back', () => {
  /** What happens to a fleet: commits here and there, slots that change hands, a copy, and a restore of it. */
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('commit' as const), process: fc.nat(2), world: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), process: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'copy' as const }) },
  );

  it(`of a database that goes back to any copy, exactly the worlds are named that lack a frame that a client was told of, while processes die and others take their slots (seed ${SEED}) [FLEET-15]`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const place = memoryPlace();
        let heads = new Map<string, Head>();
        let copy = new Map<string, Head>();
        const told = new Map<string, Head>();
        const slots = [new Slot(), new Slot(), new Slot()];
        let life = 0;
        for (const one of steps) {
          if (one.do === 'commit') {
            const world = `w${one.world}`;
            const seq = (heads.get(world)?.seq ?? -1) + 1;
            const head = { seq, digest: digestOf(world, seq, life) };
            heads.set(world, head);
            told.set(world, head);
            const slot = slots[one.process] as Slot;
            slot.saw(headOf(world, seq, { head: head.digest, at: ++life }));
            await place.put(slotName('db', one.process), writeSlot(slot.content));
          } else if (one.do === 'die') {
            const next = new Slot(); // another process has its slot now
            const stored = await place.get(slotName('db', one.process));
            if (stored !== undefined) next.inherit(readSlot(stored, 'x'));
            slots[one.process] = next;
          } else copy = new Map(heads);
        }
        heads = new Map(copy);
        const database: Rows = { heads, openedIn: new Map(), closedAt: new Map() };
        const compared = await compareWorlds(databaseOf(database), await readSlots(place, 'db'), 'x');
        const lost = [...told]
          .filter(([world, head]) => heads.get(world)?.digest !== head.digest)
          .map(([world]) => world);
        expect(compared.filter(isBefore).map(({ had }) => had.world)).toEqual(lost.sort());
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});

describe('a world that is opened beside a witness', () => {
  const journalOf = (frames: readonly string[]): ReadableJournal => ({
    head: async () => EMPTY_HEAD,
    async *read(from: number, to = frames.length - 1) {
      for (let seq = from; seq <= Math.min(to, frames.length - 1); seq++)
        yield { seq, head: frames[seq] } as StoredFrame;
    },
    findKey: async () => undefined,
    findLast: async () => undefined,
  });

  async function opened(
    heads: readonly WitnessedHead[],
    seqs: number,
    database: Rows = { heads: new Map(), openedIn: new Map(), closedAt: new Map() },
    meanwhile: (witness: Witness, place: WitnessPlace) => Promise<void> = async () => undefined,
  ) {
    const place = memoryPlace();
    await place.put(slotName('db', 9), writeSlot({ heads: [], droppedThrough: 0 }));
    const frames = Array.from({ length: seqs }, (_, seq) => digestOf('a', seq));
    const head = { seq: seqs - 1, digest: frames.at(-1) ?? EMPTY_HEAD.digest };
    const rows = databaseOf({ ...database, heads: new Map([['a', head]]) });
    const connections = {
      ...rows,
      rows: async (what: string, text: string, parameters = []) => {
        if (text.includes('INTO reprise.witness_slot')) return [[0]];
        if (text.startsWith('SELECT max(opened_in)')) return [[database.openedIn.get('a') ?? null]];
        return rows.rows(what, text, parameters);
      },
    };
    Object.assign(connections, {
      transaction: (_what: string, body: (sql: typeof connections) => unknown) => body(connections),
    });
    const hosts = { current: async () => ({ id: FIRST, holds: () => true }) } as unknown as Hosts;
    const witness = new Witness({ place, connections, hosts, database: 'db', onError: () => undefined });
    await witness.compare(GROUND);
    for (const one of heads) witness.saw(one); // as this process acknowledged them, before the database went back under it
    await meanwhile(witness, place);
    const where = 'a world';
    await witness.requireHead({ name: 'a', id: 7, incarnation: FIRST, where, head, journal: journalOf(frames) });
  }

  it('a world opens at the head that is known of it and behind it, and is refused before it with both heads named [FLEET-11]', async () => {
    await opened([headOf('a', 4)], 5);
    await opened([headOf('a', 4)], 9);
    await opened([], 0);
    await expect(opened([headOf('a', 4)], 4)).rejects.toMatchObject({
      code: 'head_mismatch',
      details: {
        where: 'a world',
        expected: `sha256:${digestOf('a', 4)} at frame 4, which was acknowledged`,
        actual: `the last is sha256:${digestOf('a', 3)} at frame 3`,
        hint: expect.stringContaining('reprise fleet admit --open'),
      },
    });
    for (const frames of [5, 9])
      await expect(opened([headOf('a', 4, { head: digestOf('a', 4, 1) })], frames)).rejects.toMatchObject({
        code: 'head_mismatch',
      });
    await expect(opened([headOf('a', 4)], 0)).rejects.toMatchObject({
      details: { actual: 'a journal without frames' },
    });
  });

  it('a world opens before no head also while a comparison for another world fails [FLEET-11]', async () => {
    const fails = async (witness: Witness, place: WitnessPlace): Promise<void> => {
      Object.assign(place, { get: () => Promise.reject(new Error('the bucket is closed')) });
      await expect(witness.compare({ ...GROUND, server: 'another' })).rejects.toThrow('the bucket is closed');
    };
    await expect(opened([headOf('a', 4)], 4, undefined, fails)).rejects.toMatchObject({ code: 'head_mismatch' });
  });

  it('a database that lacks a head of its witness is refused to all processes: the comparison says so in the database', async () => {
    const place = memoryPlace();
    await place.put(slotName('db', 1), writeSlot({ heads: [headOf('a', 4)], droppedThrough: 0 }));
    const database = databaseOf({ heads: new Map(), openedIn: new Map(), closedAt: new Map() });
    const sql = { ...database, transaction: async () => [0] as never };
    const hosts = { current: async () => ({ id: FIRST, holds: () => true }) } as unknown as Hosts;
    const witness = new Witness({ place, connections: sql, hosts, database: 'db', onError: () => undefined });
    const refused = {
      code: 'not_admitted',
      details: { reason: 'heads', worlds: ['a: frame 4 was acknowledged, no frame is here'] },
    };
    await expect(witness.compare(GROUND)).rejects.toMatchObject(refused);
    expect(database.sent.filter(({ text }) => text.startsWith('UPDATE'))).toEqual([
      { text: 'UPDATE reprise.cell SET behind = true WHERE incarnation = $1', parameters: [FIRST] },
    ]);
    await expect(witness.compare(GROUND)).rejects.toMatchObject(refused); // and it is compared again
  });
});
