/** For authors of stores: the behavior of a closed store is the same everywhere and written once. */
import { isFields, isRef, type Ref, RepriseError, requireArgument, requireMethods } from '@reprise/contracts';
import { assertAppend, assertPlace, assertText } from '../journal/append-checks.js';
import type { ReadableJournal } from '../journal/port.js';
import type { Backup, OpenStore, ReadonlyStore } from './store.js';

type ReadableContent = ReadonlyStore['content'];

/**
 * The same store with two additions: it refuses invalid arguments before a database sees them, and every call after
 * the first `close` rejects with `world_closed`, so that a late writer
 * can never reach the next opener's world. `close` of the inner store runs once.
 *
 * @param where the store's place as shown to people, for messages
 */
export function closable(store: OpenStore, where: string): OpenStore {
  requireOpen(store, 'closable', where);
  const door = new Door(where);
  const { journal, content, post } = store;
  return {
    ...store,
    ...(post === undefined ? {} : { post: async (text: string | null) => door.pass(() => post(text)) }),
    ...(store.backup === undefined ? {} : { backup: async (to: string) => door.pass(() => backup(store, to)) }),
    journal: {
      ...readableJournal(journal, door),
      append: async (frames, expected) => {
        assertAppend(frames, expected);
        return door.pass(() => journal.append(frames, expected));
      },
    },
    content: {
      ...readableContent(content, door),
      put: async (bytes) => door.pass(() => content.put(requireBytes(bytes))),
      putStream: async (pieces) => door.pass(() => content.putStream(door.each(onlyBytes(pieces)))),
      erase: async (refs, by) => {
        assertPlace(by, 'by');
        for (const ref of refs) requireRef(ref);
        return door.pass(() => content.erase(refs, by));
      },
    },
    mark: async (note) => {
      if (note !== null) assertText(note, 'note');
      return door.pass(() => store.mark(note));
    },
    close: () => door.shut(() => store.close()),
  };
}

async function backup(store: OpenStore, to: string): Promise<Backup> {
  assertText(to, 'to');
  if (store.backup !== undefined) return store.backup(to);
  throw new TypeError('a store without a backup');
}

/** {@link closable} for a store that is open for reading. */
export function closableReadonly(store: ReadonlyStore, where: string): ReadonlyStore {
  requireOpen(store, 'closableReadonly', where);
  const door = new Door(where);
  const { status, changed } = store;
  return {
    ...store,
    ...(status && { status: async () => door.pass(() => status()) }),
    ...(changed && { changed: (call) => door.pass(() => changed(call)) }),
    journal: readableJournal(store.journal, door),
    content: readableContent(store.content, door),
    close: () => door.shut(() => store.close()),
  };
}

function readableJournal(journal: ReadableJournal, door: Door): ReadableJournal {
  return {
    head: async () => door.pass(() => journal.head()),
    read: (from, to) => {
      assertPlace(from, 'from');
      if (to !== undefined) assertPlace(to, 'to');
      return door.each(journal.read(from, to));
    },
    findLast: async (kind, seq) => {
      assertText(kind, 'kind');
      assertPlace(seq, 'seq');
      return door.pass(() => journal.findLast(kind, seq));
    },
    findKey: async (key) => {
      assertText(key, 'key');
      return door.pass(() => journal.findKey(key));
    },
  };
}

function readableContent(content: ReadableContent, door: Door): ReadableContent {
  const { listShare } = content;
  return {
    get: async (ref) => door.pass(() => content.get(requireRef(ref))),
    has: async (ref) => door.pass(() => content.has(requireRef(ref))),
    erasedBy: async (ref) => door.pass(() => content.erasedBy(requireRef(ref))),
    erasedThrough: async () => door.pass(() => content.erasedThrough()),
    list: () => door.each(content.list()),
    ...(listShare && { listShare: (share) => door.each(listShare.call(content, share)) }),
  };
}

/** Content is requested by every kind of caller, so invalid arguments are refused here, for all stores. */
function requireBytes(thing: Uint8Array): Uint8Array {
  if (thing instanceof Uint8Array) return thing;
  throw new RepriseError('invalid_argument', 'only bytes can be put', { expected: 'a Uint8Array', actual: thing });
}

async function* onlyBytes(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield requireBytes(piece);
}

function requireRef(thing: Ref): Ref {
  if (isRef(thing)) return thing;
  throw new RepriseError('invalid_argument', 'invalid link to content', {
    expected: 'a ref returned by put',
    actual: thing,
  });
}

class Door {
  readonly #where: string;
  #closing: Promise<void> | undefined;

  constructor(where: string) {
    this.#where = where;
  }

  pass<T>(body: () => T): T {
    if (this.#closing === undefined) return body();
    throw new RepriseError('world_closed', 'the store was closed', {
      where: this.#where,
      hint: 'Open the world again: everything that was acknowledged is there.',
    });
  }

  /** Checked again after each item: a reader may pause while the store is closed. */
  async *each<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    this.pass(() => undefined);
    for await (const item of items) {
      yield item;
      this.pass(() => undefined);
    }
  }

  shut(close: () => Promise<void>): Promise<void> {
    this.#closing ??= close();
    return this.#closing;
  }
}

function requireOpen(store: unknown, call: string, where: unknown): void {
  const fits = isFields(store) && isFields(store.journal) && isFields(store.content);
  requireArgument(fits, `${call}(store)`, 'an open store, with journal and content', store);
  requireMethods(store, ['close'], `${call}(store)`, 'an open store, with close()');
  requireArgument(typeof where === 'string', `${call}(where)`, 'the place of the store, as text', where);
}
