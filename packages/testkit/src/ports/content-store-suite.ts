import { Ref } from '@reprise/contracts';
import { type ContentStore, EMPTY_HEAD, type OpenStore, portableSha256, toHex } from '@reprise/kernel';
import { collect, expectRefusal, expectSame, expectSameBytes, expectThat } from '../suite/expect.js';
import { type Check, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';
import { ability, framesAfter, type StoreSubject, someBytes, whileOpen } from './store-subject.js';

/** Sizes around the bounds at which stores change their way of storing a blob. */
const SIZES = [0, 1, 1000, 65_535, 65_536, 65_537, 1_048_576];

const SMALL = 100;
const LARGE = 200_000;

/**
 * The contract of the content store port, as tests.
 *
 * @example
 * testContentStore({ name: 'memory', runner: { describe, it }, make: async () => ({ store: memory() }) });
 */
export function testContentStore(options: SuiteOptions<StoreSubject>): void {
  registerSuite('content store', contentStoreChecks, options);
}

function check(title: string, body: (open: OpenStore, subject: StoreSubject) => Promise<void>): Check<StoreSubject> {
  return { ...titled(title), run: (subject) => whileOpen(subject.store, (open) => body(open, subject)) };
}

function linkOf(bytes: Uint8Array): Ref {
  return Ref.fromHex(toHex(portableSha256(bytes)));
}

/** The bytes in pieces, each in the same buffer as the one before; then an error, when one is given. */
async function* inPieces(bytes: Uint8Array, size: number, error?: Error): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    buffer.fill(255);
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
  }
  if (error !== undefined) throw error;
}

/** An empty append: everything stored before it is durable after it. */
async function barrier({ journal }: OpenStore): Promise<void> {
  await journal.append([], await journal.head());
}

/** Stores two blobs, one for each way of storing, and makes them durable. */
async function putBothKinds(open: OpenStore): Promise<[Ref, Uint8Array][]> {
  const blobs = [someBytes(SMALL, 1), someBytes(LARGE, 2)];
  const links: [Ref, Uint8Array][] = [];
  for (const bytes of blobs) links.push([await open.content.put(bytes), bytes]);
  await barrier(open);
  return links;
}

async function expectBlob(content: ContentStore, bytes: Uint8Array, when: string): Promise<void> {
  const ref = linkOf(bytes);
  expectThat(await content.has(ref), `${when}: has() does not know a blob of ${bytes.length} bytes`);
  expectSameBytes(await content.get(ref), bytes, `${when}: a blob of ${bytes.length} bytes`);
}

async function expectErased(content: ContentStore, bytes: Uint8Array): Promise<void> {
  const ref = linkOf(bytes);
  expectSame(await content.get(ref), undefined, 'erased content');
  expectSame(await content.has(ref), false, 'whether erased content exists');
  const listed = (await collect(content.list())).some(({ hex }) => hex === ref.hex);
  expectSame(listed, false, 'whether erased content is listed');
}

/** The checks of {@link testContentStore}, to run one alone. */
export const contentStoreChecks: readonly Check<StoreSubject>[] = [
  check('given bytes, their link is their sha-256 [CON-1]', async ({ content }) => {
    for (const size of SIZES) {
      const bytes = someBytes(size, size);
      expectSame(await content.put(bytes), linkOf(bytes), `the link of ${size} bytes`);
    }
  }),

  check('given a blob was put, it is readable at once and after the next append', async (open) => {
    for (const size of SIZES) {
      await open.content.put(someBytes(size, size));
      await expectBlob(open.content, someBytes(size, size), 'right after put');
    }
    await open.journal.append(framesAfter(EMPTY_HEAD, 1), EMPTY_HEAD);
    for (const size of SIZES) await expectBlob(open.content, someBytes(size, size), 'after the append');
  }),

  check('given bytes that come in pieces from one buffer, they are one blob, as if put whole [CON-1]', async (open) => {
    for (const size of SIZES) {
      for (const piece of [1_000, 64 * 1024]) {
        const kept = await open.content.putStream(inPieces(someBytes(size, size), piece));
        expectSame(kept.ref, linkOf(someBytes(size, size)), `the link of ${size} bytes in pieces of ${piece}`);
        expectSame(kept.bytes, size, 'the number of stored bytes');
        await expectBlob(open.content, someBytes(size, size), 'right after putStream');
      }
    }
    await barrier(open);
    for (const size of SIZES) await expectBlob(open.content, someBytes(size, size), 'after the append');
    expectSame((await collect(open.content.list())).length, SIZES.length, 'the number of blobs');
  }),

  check(
    'given pieces that end in an error, the error goes through and nothing is kept [CON-6]',
    async ({ content }) => {
      for (const size of [SMALL, LARGE]) {
        const broken = new Error('the source is gone');
        const kept = content.putStream(inPieces(someBytes(size, 12), 50, broken));
        const rejected: unknown = await kept.then(
          () => undefined,
          (error: unknown) => error,
        );
        expectThat(
          rejected === broken,
          `putStream rejects with ${String(rejected)} instead of the error of its source`,
        );
        expectSame((await collect(content.list())).length, 0, 'the number of blobs');
      }
    },
  ),

  check('given a link to nothing, get is undefined and has is false', async ({ content }) => {
    await content.put(someBytes(10, 1));
    const nothing = linkOf(someBytes(10, 2));
    expectSame(await content.get(nothing), undefined, 'get');
    expectSame(await content.has(nothing), false, 'has');
  }),

  check('given the same bytes twice, before and after an append, there is one blob [CON-1]', async (open) => {
    for (const size of [SMALL, LARGE]) {
      const bytes = someBytes(size, 3);
      for (let round = 0; round < 2; round++) {
        await open.content.put(bytes);
        await open.content.put(bytes);
        await barrier(open);
      }
      await expectBlob(open.content, bytes, 'after four puts');
    }
    expectSame((await collect(open.content.list())).length, 2, 'the number of blobs');
  }),

  check('given a refused append, what was put stays readable and goes with the next one [CON-2]', async (open) => {
    await open.journal.append(framesAfter(EMPTY_HEAD, 1), EMPTY_HEAD);
    const bytes = someBytes(SMALL, 4);
    await open.content.put(bytes);
    await expectRefusal('stale_head', 'an append on the empty head', () => open.journal.append([], EMPTY_HEAD));
    await expectBlob(open.content, bytes, 'after the refused append');
    await barrier(open);
    await expectBlob(open.content, bytes, 'after the next append');
  }),

  check('given bytes that the caller changes after put, the stored ones stay [CON-7]', async (open) => {
    for (const size of [SMALL, LARGE]) {
      const given = someBytes(size, 5);
      await open.content.put(given);
      given.fill(255);
      await expectBlob(open.content, someBytes(size, 5), 'before the append');
      await barrier(open);
      await expectBlob(open.content, someBytes(size, 5), 'after the append');
    }
  }),

  check('given bytes that a reader changes, the next reader gets the stored ones [CON-7]', async (open) => {
    for (const size of [SMALL, LARGE]) {
      const ref = await open.content.put(someBytes(size, 6));
      (await open.content.get(ref))?.fill(255);
      await expectBlob(open.content, someBytes(size, 6), 'before the append');
      await barrier(open);
      (await open.content.get(ref))?.fill(255);
      await expectBlob(open.content, someBytes(size, 6), 'after the append');
    }
  }),

  check('given a part of a larger buffer, only that part is kept', async (open) => {
    for (const size of [SMALL, LARGE]) {
      const whole = someBytes(size + 64, 7);
      await open.content.put(whole.subarray(32, 32 + size));
      await barrier(open);
      await expectBlob(open.content, whole.slice(32, 32 + size), 'a part');
    }
  }),

  check('given many puts at once, also of the same bytes, all of them are kept', async (open) => {
    const blobs = Array.from({ length: 30 }, (_, i) => someBytes(i % 3 === 0 ? LARGE + (i >> 3) : SMALL + i, i >> 3));
    await Promise.all(blobs.map((bytes) => open.content.put(bytes)));
    await barrier(open);
    for (const bytes of blobs) await expectBlob(open.content, bytes, 'after puts at once');
  }),

  check('given blobs of all sizes, waiting and written, list names each once', async (open) => {
    const put = async (size: number): Promise<string> => (await open.content.put(someBytes(size, size))).hex;
    const written = [await put(0), await put(SMALL), await put(LARGE)];
    await barrier(open);
    const waiting = [await put(SMALL), await put(SMALL + 1), await put(LARGE), await put(LARGE + 1)];
    const listed = (await collect(open.content.list())).map(({ hex }) => hex);
    expectSame(listed.sort(), [...new Set([...written, ...waiting])].sort(), 'the list');
  }),

  check('given a store that lists shares, each blob is in exactly one of them', async ({ content, journal }) => {
    const put = async (size: number): Promise<void> => void (await content.put(someBytes(size, size)));
    for (let size = 0; size < 40; size++) await put(size);
    for (const size of [LARGE, LARGE + 1, LARGE + 2]) await put(size);
    await journal.append([], await journal.head());
    for (let size = 40; size < 50; size++) await put(size); // these wait
    if (content.listShare === undefined) return;
    const all = (await collect(content.list())).map(({ hex }) => hex).sort();
    for (const of of [1, 2, 5]) {
      const shares: string[] = [];
      for (let part = 0; part < of; part++)
        for (const { hex } of await collect(content.listShare({ part, of }))) shares.push(hex);
      expectSame(shares.sort(), all, `the blobs of ${of} shares`);
    }
  }),

  check('given an erasure, what it names is gone and the rest stays', async (open) => {
    for (const waiting of [false, true]) {
      const [gone, kept] = [someBytes(SMALL, waiting ? 20 : 21), someBytes(SMALL + 1, waiting ? 20 : 21)];
      for (const bytes of [gone, kept]) await open.content.put(bytes);
      if (!waiting) await barrier(open);
      await open.content.erase([linkOf(gone)], waiting ? 2 : 1);
      await expectErased(open.content, gone);
      await barrier(open);
      await expectErased(open.content, gone);
      await expectBlob(open.content, kept, 'beside erased content');
    }
  }),

  check('given large blobs, an erasure takes them as well', async (open) => {
    const [large, larger] = [someBytes(LARGE, 22), someBytes(LARGE + 1, 22)];
    for (const bytes of [large, larger]) await open.content.put(bytes);
    await barrier(open);
    await open.content.erase([linkOf(large)], 4);
    await expectErased(open.content, large);
    await expectBlob(open.content, larger, 'beside erased content');
  }),

  check('given an erasure, its tombstones tell what was erased from what was never there [CON-9]', async (open) => {
    const links = (await putBothKinds(open)).map(([ref]) => ref);
    const never = linkOf(someBytes(10, 23));
    expectSame(await open.content.erasedBy(links[0] as Ref), undefined, 'the tombstone before');
    expectSame(await open.content.erasedThrough(), -1, 'erased through, before');
    await open.content.erase([...links, linkOf(someBytes(10, 24))], 7);
    for (const ref of [...links, linkOf(someBytes(10, 24))])
      expectSame(await open.content.erasedBy(ref), 7, `the tombstone of ${ref}`);
    expectSame(await open.content.erasedBy(never), undefined, 'the tombstone of content that was never stored');
    expectSame(await open.content.erasedThrough(), 7, 'erased through');
    await open.content.erase([never], 9);
    expectSame(await open.content.erasedBy(never), 9, 'the tombstone of the next erasure');
    expectSame(await open.content.erasedBy(links[0] as Ref), 7, 'the tombstone of the first');
    expectSame(await open.content.erasedThrough(), 9, 'erased through the next');
  }),

  check('given an erasure that is asked for again, it is as if it had been asked for once', async (open) => {
    const [[ref, bytes]] = (await putBothKinds(open)) as [[Ref, Uint8Array]];
    for (let round = 0; round < 2; round++) await open.content.erase([ref], 3);
    await expectErased(open.content, bytes);
    expectSame(await open.content.erasedThrough(), 3, 'erased through');
  }),

  check('given what was erased is put again, it is there again and its tombstone stays', async (open) => {
    for (const [ref, bytes] of await putBothKinds(open)) {
      await open.content.erase([ref], 5);
      await open.content.put(bytes);
      await expectBlob(open.content, bytes, 'right after it was put again');
      await barrier(open);
      await expectBlob(open.content, bytes, 'after the append');
      expectSame(
        (await collect(open.content.list())).some(({ hex }) => hex === ref.hex),
        true,
        'listed',
      );
      expectSame(await open.content.erasedBy(ref), 5, 'its tombstone');
    }
  }),

  {
    ...titled('given a close after an erasure, what is gone stays gone and the tombstones stand'),
    run: async (subject) => {
      const bytes = [someBytes(SMALL, 1), someBytes(LARGE, 2)];
      await whileOpen(subject.store, async (open) => {
        const links = (await putBothKinds(open)).map(([ref]) => ref);
        await open.content.erase(links, 6);
      });
      await whileOpen(subject.again?.() ?? subject.store, async ({ content }) => {
        for (const one of bytes) await expectErased(content, one);
        expectSame(await content.erasedBy(linkOf(bytes[0] as Uint8Array)), 6, 'the tombstone');
        expectSame(await content.erasedThrough(), 6, 'erased through');
      });
    },
  },

  check('given stored bytes that are damaged, get refuses them [CON-5]', async (open, subject) => {
    for (const [ref] of await putBothKinds(open)) {
      await ability(subject, 'damageBlob')(ref);
      await expectRefusal('blob_damaged', `get of a damaged ${ref}`, () => open.content.get(ref));
    }
  }),

  check(
    'given stored bytes that are damaged, putting the right ones again heals them [CON-5]',
    async (open, subject) => {
      for (const [ref, bytes] of await putBothKinds(open)) {
        await ability(subject, 'damageBlob')(ref);
        await open.content.put(bytes);
        await barrier(open);
        await expectBlob(open.content, bytes, 'after healing');
      }
    },
  ),
];
