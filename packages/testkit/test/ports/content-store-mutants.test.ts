import { isRepriseError, type Ref, RepriseError } from '@reprise/contracts';
import type { OpenStore } from '@reprise/kernel';
import { contentStoreChecks } from '@reprise/testkit/ports';
import { honest, openMutant, patched, testMutants } from './mutants.js';

const READABLE = 'given a blob was put, it is readable at once and after the next append';
const ONCE = 'given the same bytes twice, before and after an append, there is one blob';
const GONE = 'given an erasure, what it names is gone and the rest stays';
const TOMBSTONES = 'given an erasure, its tombstones tell what was erased from what was never there';
const AGAIN = 'given what was erased is put again, it is there again and its tombstone stays';
const PIECES = 'given bytes that come in pieces from one buffer, they are one blob, as if put whole';
const BROKEN = 'given pieces that end in an error, the error goes through and nothing is kept';
const SHARES = 'given a store that lists shares, each blob is in exactly one of them';
const LIST = 'given blobs of all sizes, waiting and written, list names each once';

testMutants('content store', contentStoreChecks, [
  openMutant('names a blob by other bytes', 'given bytes, their link is their sha-256', ({ content }) => ({
    content: { put: (bytes) => content.put(bytes.toReversed()) },
  })),
  openMutant('hides a blob until the next append', READABLE, ({ content, journal }) => {
    const waiting = new Set<string>();
    return {
      content: {
        put: async (bytes) => {
          const ref = await content.put(bytes);
          waiting.add(ref.hex);
          return ref;
        },
        get: async (ref) => (waiting.has(ref.hex) ? undefined : content.get(ref)),
      },
      journal: {
        append: async (frames, expected) => {
          waiting.clear();
          return journal.append(frames, expected);
        },
      },
    };
  }),
  openMutant('forgets a blob at the append', READABLE, ({ content, journal }) => {
    let forgotten = false;
    return {
      content: { get: async (ref) => (forgotten ? undefined : content.get(ref)) },
      journal: {
        append: async (frames, expected) => {
          forgotten = true;
          return journal.append(frames, expected);
        },
      },
    };
  }),
  openMutant('has no empty blob', READABLE, ({ content }) => ({
    content: {
      get: async (ref) => {
        const bytes = await content.get(ref);
        return bytes?.length === 0 ? undefined : bytes;
      },
    },
  })),
  openMutant('holds the pieces of a stream, whose buffer is filled again', PIECES, ({ content }) => ({
    content: {
      putStream: async (pieces) => {
        const held: Uint8Array[] = [];
        for await (const piece of pieces) held.push(piece);
        const bytes = new Uint8Array(held.flatMap((piece) => [...piece]));
        return { ref: await content.put(bytes), bytes: bytes.length };
      },
    },
  })),
  openMutant('keeps what came before a stream broke', BROKEN, ({ content }) => ({
    content: {
      putStream: async (pieces) => {
        const kept: number[] = [];
        try {
          for await (const piece of pieces) kept.push(...piece);
        } catch {
          // what came is all there is
        }
        return { ref: await content.put(new Uint8Array(kept)), bytes: kept.length };
      },
    },
  })),
  openMutant(
    'takes an unknown link for an error',
    'given a link to nothing, get is undefined and has is false',
    ({ content }) => ({
      content: {
        get: async (ref) => {
          const bytes = await content.get(ref);
          if (bytes === undefined) throw new RepriseError('blob_missing', 'no such blob');
          return bytes;
        },
      },
    }),
  ),
  openMutant('has everything', 'given a link to nothing, get is undefined and has is false', () => ({
    content: { has: async () => true },
  })),
  openMutant('keeps a blob once per put', ONCE, ({ content }) => {
    const puts: Ref[] = [];
    return {
      content: {
        put: async (bytes) => {
          const ref = await content.put(bytes);
          puts.push(ref);
          return ref;
        },
        list: async function* () {
          yield* puts;
        },
      },
    };
  }),
  openMutant(
    'drops what waits at a refused append',
    'given a refused append, what was put stays readable and goes with the next one',
    ({ content, journal }) => {
      const waiting = new Set<string>();
      const dropped = new Set<string>();
      return {
        content: {
          put: async (bytes) => {
            const ref = await content.put(bytes);
            waiting.add(ref.hex);
            return ref;
          },
          has: async (ref) => !dropped.has(ref.hex) && (await content.has(ref)),
        },
        journal: {
          append: (frames, expected) =>
            journal.append(frames, expected).catch((error: unknown) => {
              if (isRepriseError(error, 'stale_head')) for (const hex of waiting) dropped.add(hex);
              throw error;
            }),
        },
      };
    },
  ),
  openMutant(
    'keeps the buffer of the caller',
    'given bytes that the caller changes after put, the stored ones stay',
    ({ content }) => {
      const kept = new Map<string, Uint8Array>();
      return {
        content: {
          put: async (bytes) => {
            const ref = await content.put(bytes);
            kept.set(ref.hex, bytes);
            return ref;
          },
          get: async (ref) => kept.get(ref.hex) ?? content.get(ref),
        },
      };
    },
  ),
  openMutant(
    'gives its own buffer to readers',
    'given bytes that a reader changes, the next reader gets the stored ones',
    ({ content }) => {
      const kept = new Map<string, Uint8Array | undefined>();
      return {
        content: {
          get: async (ref) => {
            if (!kept.has(ref.hex)) kept.set(ref.hex, await content.get(ref));
            return kept.get(ref.hex);
          },
        },
      };
    },
  ),
  openMutant(
    'keeps all of the buffer behind a part',
    'given a part of a larger buffer, only that part is kept',
    ({ content }) => ({
      content: { put: (bytes) => content.put(new Uint8Array(bytes.buffer)) },
    }),
  ),
  openMutant(
    'loses a put while another one runs',
    'given many puts at once, also of the same bytes, all of them are kept',
    ({ content }) => {
      let running = 0;
      const lost = new Set<string>();
      return {
        content: {
          put: async (bytes) => {
            const ref = await content.put(bytes);
            if (running++ > 0) lost.add(ref.hex);
            await new Promise((resolve) => setTimeout(resolve, 1));
            running--;
            return ref;
          },
          get: async (ref) => (lost.has(ref.hex) ? undefined : content.get(ref)),
        },
      };
    },
  ),
  openMutant('lists only what is written', LIST, ({ content, journal }) => {
    const written = new Set<string>();
    return {
      content: {
        list: async function* () {
          for await (const ref of content.list()) if (written.has(ref.hex)) yield ref;
        },
      },
      journal: {
        append: async (frames, expected) => {
          for await (const ref of content.list()) written.add(ref.hex);
          return journal.append(frames, expected);
        },
      },
    };
  }),
  openMutant('lists every blob in every share', SHARES, ({ content }) => ({
    content: { listShare: () => content.list() },
  })),
  openMutant('leaves out of every share what is in none', SHARES, ({ content }) => ({
    content: {
      listShare: async function* ({ part, of }) {
        const inShare = ({ hex }: Ref) => Number.parseInt(hex.slice(0, 2), 16) % (of + 1) === part;
        for await (const ref of content.list()) if (of === 1 || inShare(ref)) yield ref;
      },
    },
  })),
  openMutant('lists a blob in both its places', LIST, ({ content }) => ({
    content: {
      list: async function* () {
        yield* content.list();
        yield* content.list();
      },
    },
  })),
  openMutant('notes an erasure and keeps the bytes', GONE, ({ content }) => ({
    content: { erase: (_refs, by) => content.erase([], by) },
  })),
  openMutant('erases what is written and not what waits', GONE, ({ content, journal }) => {
    const waiting = new Set<string>();
    return {
      content: {
        put: async (bytes) => {
          const ref = await content.put(bytes);
          waiting.add(ref.hex);
          return ref;
        },
        erase: (refs, by) =>
          content.erase(
            refs.filter(({ hex }) => !waiting.has(hex)),
            by,
          ),
      },
      journal: {
        append: async (frames, expected) => {
          waiting.clear();
          return journal.append(frames, expected);
        },
      },
    };
  }),
  openMutant('lists what was erased', GONE, ({ content }) => {
    const erased: Ref[] = [];
    return {
      content: {
        erase: async (refs, by) => {
          erased.push(...refs);
          await content.erase(refs, by);
        },
        list: async function* () {
          yield* content.list();
          yield* erased;
        },
      },
    };
  }),
  openMutant('erases only what is small', 'given large blobs, an erasure takes them as well', ({ content }) => ({
    content: {
      erase: async (refs, by) => {
        const small: Ref[] = [];
        for (const ref of refs) if (((await content.get(ref))?.length ?? 0) < 65_536) small.push(ref);
        await content.erase(small, by);
      },
    },
  })),
  openMutant('has no tombstones', TOMBSTONES, () => ({ content: { erasedBy: async () => undefined } })),
  openMutant('has a tombstone for whatever is not there', TOMBSTONES, ({ content }) => ({
    content: { erasedBy: async (ref) => ((await content.has(ref)) ? undefined : 7) },
  })),
  openMutant('does not know how far erasing is finished', TOMBSTONES, () => ({
    content: { erasedThrough: async () => -1 },
  })),
  openMutant(
    'refuses to erase what is gone',
    'given an erasure that is asked for again, it is as if it had been asked for once',
    ({ content }) => ({
      content: {
        erase: async (refs, by) => {
          for (const ref of refs) if (!(await content.has(ref))) throw new RepriseError('blob_missing', 'no such blob');
          await content.erase(refs, by);
        },
      },
    }),
  ),
  openMutant('never takes erased bytes again', AGAIN, ({ content }) => {
    const banned = new Set<string>();
    return {
      content: {
        erase: async (refs, by) => {
          for (const { hex } of refs) banned.add(hex);
          await content.erase(refs, by);
        },
        get: async (ref) => (banned.has(ref.hex) ? undefined : content.get(ref)),
      },
    };
  }),
  openMutant('drops the tombstone when the bytes are put again', AGAIN, ({ content }) => ({
    content: { erasedBy: async (ref) => ((await content.has(ref)) ? undefined : content.erasedBy(ref)) },
  })),
  {
    name: 'erases only until it is closed',
    caughtBy: 'given a close after an erasure, what is gone stays gone and the tombstones stand',
    make: () => {
      const subject = honest();
      let hidden = new Set<string>();
      const open = async (): Promise<OpenStore> => {
        const opened = await subject.store.open();
        hidden = new Set();
        const hides = (ref: Ref) => hidden.has(ref.hex);
        return patched(opened, {
          content: {
            erase: async (refs) => {
              for (const { hex } of refs) hidden.add(hex);
            },
            get: async (ref) => (hides(ref) ? undefined : opened.content.get(ref)),
            has: async (ref) => !hides(ref) && opened.content.has(ref),
          },
        });
      };
      return { ...subject, store: { ...subject.store, open } };
    },
  },
  openMutant(
    'does not verify what it reads',
    'given stored bytes that are damaged, get refuses them',
    ({ content }) => ({
      content: { get: (ref) => content.get(ref).catch(() => new Uint8Array(9)) },
    }),
  ),
  openMutant(
    'takes a damaged blob for an absent one',
    'given stored bytes that are damaged, get refuses them',
    ({ content }) => ({
      content: { get: (ref) => content.get(ref).catch(() => undefined) },
    }),
  ),
  openMutant(
    'does not write what it believes to have',
    'given stored bytes that are damaged, putting the right ones again heals them',
    ({ content }) => {
      const had = new Map<string, Ref>();
      return {
        content: {
          put: async (bytes) => {
            const known = had.get(String(bytes));
            if (known !== undefined) return known;
            const ref = await content.put(bytes);
            had.set(String(bytes), ref);
            return ref;
          },
        },
      };
    },
  ),
]);
