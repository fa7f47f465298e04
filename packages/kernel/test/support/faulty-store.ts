import { RepriseError } from '@reprise/contracts';
import type { OpenStore, Store } from '../../src/index.js';

/** The faults of one append. */
export type AppendFault =
  /** Nothing is written, and the disk reports that it is full. */
  | 'full'
  /** Nothing is written and the store does not know why. */
  | 'broken'
  /** The frames land; the answer is lost. */
  | 'reply lost'
  /** The frames land, another writer appends after them, and the answer is lost. */
  | 'stale'
  /** All is well. */
  | 'ok';

/** A store whose next calls fail as a test decides. All other calls pass through. */
export interface FaultyStore extends Store {
  /** Faults for the next appends, one each; then all is well again. */
  readonly appends: AppendFault[];
  /** While true, every append and every put reports a full disk. */
  full: boolean;
  /** While true, `put` reports a full disk, and appends work. */
  putFull: boolean;
  /** The number of the next reads of content that fail. */
  unreadable: number;
  /** While true `head()` cannot be read. */
  headUnreadable: boolean;
  /** The false answer of `head()`. */
  headSays: { seq: number; digest: string } | undefined;
  /** Appends that were tried. */
  tried: number;
  /** While it is set, appends wait for it before they write. */
  slow: Promise<unknown> | undefined;
  /** While it is set, puts wait for it. */
  slowPut: Promise<unknown> | undefined;
  /** While it is set, appends wait for it after they have written. */
  slowAfter: Promise<unknown> | undefined;
}

/** Wraps a store so that its writes fail on demand. */
export function faultyStore(inner: Store): FaultyStore {
  const faulty: FaultyStore = {
    label: `faulty ${inner.label}`,
    appends: [],
    full: false,
    putFull: false,
    unreadable: 0,
    headUnreadable: false,
    headSays: undefined,
    tried: 0,
    slow: undefined,
    slowPut: undefined,
    slowAfter: undefined,
    open: async () => wrap(await inner.open(), faulty),
    openReadonly: () => inner.openReadonly(),
  };
  return faulty;
}

function wrap(open: OpenStore, faulty: FaultyStore): OpenStore {
  return {
    ...open,
    journal: {
      ...open.journal,
      head: async () => {
        if (faulty.headUnreadable) throw new RepriseError('store_failed', 'the head cannot be read');
        return faulty.headSays ?? open.journal.head();
      },
      append: async (frames, expected) => {
        faulty.tried++;
        await faulty.slow;
        const fault = faulty.full ? 'full' : (faulty.appends.shift() ?? 'ok');
        if (fault === 'full') throw new RepriseError('store_full', 'no space left');
        if (fault === 'broken') throw new RepriseError('store_failed', 'the sync failed');
        const head = await open.journal.append(frames, expected);
        await faulty.slowAfter;
        if (fault === 'stale') faulty.headSays = { seq: head.seq + 1, digest: 'f'.repeat(64) };
        if (fault !== 'ok') throw new RepriseError('store_failed', 'the connection was lost');
        return head;
      },
    },
    content: {
      ...open.content,
      get: async (ref) => {
        if (faulty.unreadable > 0) {
          faulty.unreadable--;
          throw new RepriseError('store_failed', 'the disk cannot be read');
        }
        return open.content.get(ref);
      },
      put: async (bytes) => {
        await faulty.slowPut;
        if (faulty.full || faulty.putFull) throw new RepriseError('store_full', 'no space left');
        return open.content.put(bytes);
      },
    },
  };
}
