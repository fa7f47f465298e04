import { isRepriseError, RepriseError } from '@reprise/contracts';
import { memory, type OpenStore, type ReadonlyStore, type Store } from '@reprise/kernel';
import { storeChecks } from '@reprise/testkit/ports';
import { honest, openMutant, patched, storeMutant, testMutants } from './mutants.js';

const AGAIN = 'given a close, the next opening has every frame and blob';
const SECOND = 'given an opener, a second one is refused and disturbs nothing until the first has closed';
const MARK = 'given a mark, it stands at every opening until it is replaced or cleared';
const CRASH = 'given a crash, what was acknowledged is there and the opening says it was unclean';
const READER = 'given a writer, a reader takes no lock and sees what is durable, as it grows';

/** A store object that remembers what it opened. */
function remembering(store: Store, open: (before: OpenStore | undefined, store: Store) => Promise<OpenStore>): Store {
  let current: OpenStore | undefined;
  return {
    ...store,
    open: async () => {
      current = await open(current, store);
      return current;
    },
  };
}

async function snapshotOf(reader: ReadonlyStore): Promise<ReadonlyStore> {
  const head = await reader.journal.head();
  return patched(reader, {
    journal: {
      head: async () => head,
      read: (from, to) => reader.journal.read(from, Math.min(to ?? head.seq, head.seq)),
    },
  });
}

testMutants('store', storeChecks, [
  storeMutant('forgets everything at close', AGAIN, (store) => ({ ...store, open: async () => memory().open() })),
  storeMutant('finds its blobs but not its frames', AGAIN, (store) =>
    remembering(store, async (before) => {
      const open = await store.open();
      return before === undefined ? open : { ...open, journal: (await memory().open()).journal };
    }),
  ),
  storeMutant(
    'writes blobs with frames only',
    'given an append without frames, the blobs put before it outlive the close',
    (store) => {
      const lost = new Set<string>();
      return {
        ...store,
        open: async () => {
          const open = await store.open();
          const put: string[] = [];
          return patched(open, {
            content: {
              put: async (bytes) => {
                const ref = await open.content.put(bytes);
                put.push(ref.hex);
                return ref;
              },
              get: async (ref) => (lost.has(ref.hex) ? undefined : open.content.get(ref)),
            },
            close: async () => {
              if ((await open.journal.head()).seq < 0) for (const hex of put) lost.add(hex);
              await open.close();
            },
          });
        },
      };
    },
  ),
  storeMutant('lets a second opener in', SECOND, (store) =>
    remembering(store, async (before) => {
      try {
        return await store.open();
      } catch (error) {
        if (before !== undefined && isRepriseError(error, 'world_locked')) return before;
        throw error;
      }
    }),
  ),
  storeMutant('closes the first opener when a second one comes', SECOND, (store) =>
    remembering(store, async (before) => {
      try {
        return await store.open();
      } catch (error) {
        await before?.close();
        throw error;
      }
    }),
  ),
  storeMutant(
    'gives up the lock at every close',
    'given a second close, it gives up nothing that the next opener holds',
    (store) => {
      let current: OpenStore | undefined;
      return {
        ...store,
        open: async () => {
          const open = await store.open();
          current = open;
          return patched(open, { close: async () => current?.close() });
        },
      };
    },
  ),
  openMutant('takes a note after its close', 'given a close, every call on what was closed is refused', (open) => ({
    mark: (note) => open.mark(note).catch(() => undefined),
  })),
  openMutant(
    'was never closed cleanly',
    'given a clean close, the next opening says so, and so does the first',
    () => ({
      cleanlyClosed: false,
    }),
  ),
  openMutant('forgets the mark', MARK, () => ({ markAtOpen: null })),
  storeMutant('clears the mark at a clean close', MARK, (store) => ({
    ...store,
    open: async () => {
      const open = await store.open();
      return patched(open, {
        close: async () => {
          await open.mark(null).catch(() => undefined);
          await open.close();
        },
      });
    },
  })),
  {
    name: 'loses the last acknowledged frame in a crash',
    caughtBy: CRASH,
    make: () => {
      const subject = honest();
      return {
        ...subject,
        crashed: async () => {
          const left = await subject.crashed();
          return {
            ...left,
            open: async () => {
              const open = await left.open();
              return patched(open, { journal: { read: (from) => open.journal.read(from, 29) } });
            },
          };
        },
      };
    },
  },
  {
    name: 'takes a crash for a clean close',
    caughtBy: CRASH,
    make: () => {
      const subject = honest();
      return {
        ...subject,
        crashed: async () => {
          const left = await subject.crashed();
          return { ...left, open: async () => ({ ...(await left.open()), cleanlyClosed: true }) };
        },
      };
    },
  },
  storeMutant(
    'makes a world in order to read it',
    'given nothing there, opening for reading is world_absent and makes nothing',
    (store) => ({
      ...store,
      openReadonly: async () => {
        await (await store.open()).close();
        return store.openReadonly();
      },
    }),
  ),
  storeMutant('shuts readers out while it is open', READER, (store) => {
    let held = false;
    return {
      ...store,
      open: async () => {
        const open = await store.open();
        held = true;
        return open;
      },
      openReadonly: async () => {
        if (held) throw new RepriseError('world_locked', 'held');
        return store.openReadonly();
      },
    };
  }),
  storeMutant('shows a reader the moment of its opening only', READER, (store) => ({
    ...store,
    openReadonly: async () => snapshotOf(await store.openReadonly()),
  })),
  openMutant('offers another hash', 'given a hash of its own, it is the sha-256 of the portable one', () => ({
    hash: () => new Uint8Array(32),
  })),
]);
