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
    ...(post === undefined ? {} : { post: (text: string | null) => door.pass(() => post(text)) }),
    ...(store.backup === undefined ? {} : { backup: (to: string) => door.pass(() => backup(store, to)) }),
    journal: {
      ...readableJournal(journal, door),
      append: (frames, expected) =>
        door.pass(() => {
          assertAppend(frames, expected);
          return journal.append(frames, expected);
        }),
    },
    content: {
      ...readableContent(content, door),
      put: (bytes) => door.pass(() => content.put(requireBytes(bytes))),
      putStream: (pieces) => door.pass(() => content.putStream(door.each(onlyBytes(pieces)))),
      erase: (refs, by) =>
        door.pass(() => {
          assertPlace(by, 'by');
          for (const ref of refs) requireRef(ref);
          return content.erase(refs, by);
        }),
    },
    mark: (note) =>
      door.pass(() => {
        if (note !== null) assertText(note, 'note');
        return store.mark(note);
      }),
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
    ...(status && { status: () => door.pass(() => status()) }),
    ...(changed && { changed: (call) => door.check(() => changed(call)) }),
    journal: readableJournal(store.journal, door),
    content: readableContent(store.content, door),
    close: () => door.shut(() => store.close()),
  };
}

function readableJournal(journal: ReadableJournal, door: Door): ReadableJournal {
  return {
    head: () => door.pass(() => journal.head()),
    read: (from, to) => {
      assertPlace(from, 'from');
      if (to !== undefined) assertPlace(to, 'to');
      return door.each(journal.read(from, to));
    },
    findLast: (kind, seq) =>
      door.pass(() => {
        assertText(kind, 'kind');
        assertPlace(seq, 'seq');
        return journal.findLast(kind, seq);
      }),
    findKey: (key) =>
      door.pass(() => {
        assertText(key, 'key');
        return journal.findKey(key);
      }),
  };
}

function readableContent(content: ReadableContent, door: Door): ReadableContent {
  const { listShare } = content;
  return {
    get: (ref) => door.pass(() => content.get(requireRef(ref))),
    has: (ref) => door.pass(() => content.has(requireRef(ref))),
    erasedBy: (ref) => door.pass(() => content.erasedBy(requireRef(ref))),
    erasedThrough: () => door.pass(() => content.erasedThrough()),
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

  /** The promise of a call that is let in, and no further one: calls are many. What refuses it rejects. */
  pass<T>(call: () => Promise<T>): Promise<T> {
    try {
      const made = this.check(call);
      return made instanceof Promise ? made : Promise.resolve(made); // a store in plain JavaScript may answer at once
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  }

  /** Lets a call in while the store is open. @throws RepriseError `world_closed` */
  check<T>(body: () => T): T {
    if (this.#closing === undefined) return body();
    throw new RepriseError('world_closed', 'the store was closed', {
      where: this.#where,
      hint: 'Open the world again: everything that was acknowledged is there.',
    });
  }

  /** Checked again after each item: a reader may pause while the store is closed. */
  async *each<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    this.check(() => undefined);
    for await (const item of items) {
      yield item;
      this.check(() => undefined);
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
