/** The store of a world, each of whose calls is watched: a disk that does not answer is told to the operator. */
import { present, type Ref } from '@reprise/contracts';
import { ContentLayer } from '../../../ports/content/content-layer.js';
import type { BlobShare, ErasableContentStore, KeptStream } from '../../../ports/content/port.js';
import type { OpenStore } from '../../../ports/store/store.js';
import type { StoreWatch } from './store-watch.js';

/** What watches the calls of a store. */
type Watch = Pick<StoreWatch, 'begin' | 'during'>;

/** A store whose calls are watched; but for a backup, which may take as long as it needs, and closing. */
export function watchedStore(store: OpenStore, watch: Watch): OpenStore {
  const { journal, content, hash, ended, tenure, cleanlyClosed, markAtOpen } = store;
  const [backup, post] = [store.backup?.bind(store), store.post?.bind(store)];
  const answerFor = store.answerFor?.bind(store);
  return {
    // One by one: the methods of a store may stand on its class.
    ...present({ hash, ended, tenure, backup, post, answerFor }),
    cleanlyClosed,
    markAtOpen,
    close: () => store.close(),
    journal: {
      head: () => watch.during(() => journal.head()),
      read: (from, to) => watchedEach(journal.read(from, to), watch),
      findLast: (kind, seq) => watch.during(() => journal.findLast(kind, seq)),
      findKey: (key) => watch.during(() => journal.findKey(key)),
      append: (frames, expected) => watch.during(() => journal.append(frames, expected)),
    },
    content: new WatchedContent(content, watch),
    mark: (note) => watch.during(() => store.mark(note)),
  };
}

/** The content of such a store. */
class WatchedContent extends ContentLayer implements ErasableContentStore {
  readonly listShare?: (share: BlobShare) => AsyncIterable<Ref>;
  #erasedThrough: Promise<number> | undefined;

  constructor(
    private readonly erasable: ErasableContentStore,
    private readonly watch: Watch,
  ) {
    super(erasable);
    const listShare = erasable.listShare?.bind(erasable);
    if (listShare !== undefined) this.listShare = (share) => watchedEach(listShare(share), watch);
  }

  override get(ref: Ref): Promise<Uint8Array | undefined> {
    return this.watch.during(() => super.get(ref));
  }

  override has(ref: Ref): Promise<boolean> {
    return this.watch.during(() => super.has(ref));
  }

  override erasedBy(ref: Ref): Promise<number | undefined> {
    return this.watch.during(() => super.erasedBy(ref));
  }

  /** Only its owner erases, so it is asked for once and after each erasure: each prompt wants to know it. */
  override erasedThrough(): Promise<number> {
    this.#erasedThrough ??= this.watch
      .during(() => super.erasedThrough())
      .catch((error: unknown) => {
        this.#erasedThrough = undefined;
        throw error;
      });
    return this.#erasedThrough;
  }

  override put(bytes: Uint8Array): Promise<Ref> {
    return this.watch.during(() => super.put(bytes));
  }

  /** The time in which the source of a stream makes the next piece does not count. */
  override async putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    const { watch } = this;
    let end = watch.begin();
    async function* source(): AsyncGenerator<Uint8Array> {
      end();
      try {
        for await (const piece of pieces) {
          end = watch.begin();
          yield piece;
          end();
        }
      } finally {
        end();
        end = watch.begin();
      }
    }
    try {
      return await super.putStream(source());
    } finally {
      end();
    }
  }

  override list(): AsyncIterable<Ref> {
    return watchedEach(super.list(), this.watch);
  }

  async erase(refs: readonly Ref[], by: number): Promise<void> {
    try {
      await this.watch.during(() => this.erasable.erase(refs, by));
    } finally {
      this.#erasedThrough = undefined;
    }
  }
}

/** The time in which a reader works with an item does not count. */
async function* watchedEach<T>(items: AsyncIterable<T>, watch: Watch): AsyncGenerator<T> {
  let end = watch.begin();
  try {
    for await (const item of items) {
      end();
      yield item;
      end = watch.begin();
    }
  } finally {
    end();
  }
}
