import type { Hash } from '../../pure/codec/hash.js';
import type { ContentReader, ContentStore, ErasableContentStore } from '../content/port.js';
import type { Head, Journal, ReadableJournal } from '../journal/port.js';
import type { Tenure } from './tenure.js';

/** A verified copy of a world, made while the world was open. */
export interface Backup {
  /** The place of the copy. */
  readonly path: string;
  /** The last frame of the copy. Recorded elsewhere, it later proves that the copy is the one that was made. */
  readonly head: Head;
  /** The number of its blobs. */
  readonly blobs: number;
}

/** The last opening of a place, as another process can see it. */
export interface StoreStatus {
  /**
   * `open` while a living process has it open, `closed` after a clean close or before the first opening, `died` when the
   * process ended without closing it, `unknown` when this machine cannot tell.
   */
  readonly writer: 'open' | 'closed' | 'died' | 'unknown';
  /** What the opening posted last, while it is open; undefined for nothing. */
  readonly posted?: string;
  /** Where the world has moved to, when it has: what is here can be read, and nothing follows. */
  readonly movedTo?: string;
}

/** An open store, which this process alone may write. */
export interface OpenStore {
  readonly journal: Journal;
  readonly content: ErasableContentStore;
  /** A faster sha-256 of this platform, when it has one. */
  readonly hash?: Hash;
  /**
   * Whether the last process closed the store properly. After an unclean close recovery is more careful
   * with inputs that may have exhausted the machine.
   */
  readonly cleanlyClosed: boolean;
  /**
   * How the last opening ended, when the store can tell: `died` only when the death of its process was witnessed, such as
   * by a lock of the operating system that ends with its holder; `lost` when its lease or session ended while the process
   * may have lived. Only a death counts against the input that was noted. Absent: `cleanlyClosed` tells `clean` from `died`.
   */
  readonly ended?: 'clean' | 'died' | 'lost';
  /** How long this opening owns the store; absent where a lock lasts until it is closed or its process has died. */
  readonly tenure?: Tenure;
  /**
   * Notes, outside the journal and its chain, the fact that is about to be folded (null: none). A crash while
   * a note stands tells the next opener which fact may be poisoned. Durable when it resolves.
   */
  mark(note: string | null): Promise<void>;
  /** The note that stood when the store was opened. */
  readonly markAtOpen: string | null;
  /**
   * Runs a fold while a note stands: where the process ends in it, its death is put down to this world, and the notes that
   * other worlds of the process have at that moment do not count. Absent on a store that cannot tell: then each note counts.
   */
  answerFor?<T>(fold: () => T): T;
  /**
   * Copies the world to an empty place while it goes on. Absent on a store that cannot do this.
   *
   * Contract: the copy has everything that was acknowledged before the call; it verifies; existing files are never
   * replaced; when it rejects, there is nothing at `to`.
   */
  backup?(to: string): Promise<Backup>;
  /**
   * Posts a text, outside the journal and its chain, for readers of the place in other processes: it takes the place of
   * the one before (null: none). Need not be durable, and must not wait for the journal's disk where it can avoid it.
   * Ends with `close`. Absent on a store that no other process can read.
   */
  post?(text: string | null): Promise<void>;
  /** Closes the store and notes a clean close; a note of {@link mark} stays. Idempotent. */
  close(): Promise<void>;
}

/** An open store, for reading: verification, inspection, export. Takes no lock and never writes. */
export interface ReadonlyStore {
  readonly journal: ReadableJournal;
  readonly content: ContentReader & Pick<ContentStore, 'list' | 'listShare'>;
  readonly hash?: Hash;
  /**
   * Lets the reads of one turn of the event loop see one state of the world, until the returned function is called: what
   * another process makes durable meanwhile is then seen in the next turn. For readers that read very much, such as a
   * verification. Absent on a store where this saves nothing.
   */
  readTurnByTurn?(): () => void;
  /** The last opening. Absent on a store that no other process can open. */
  status?(): Promise<StoreStatus>;
  /**
   * Calls whenever frames may have become durable, until the returned function is called. Absent on a store that cannot
   * tell.
   *
   * Contract: a hint. It may come late, twice, without a reason, or not at all.
   */
  changed?(call: () => void): () => void;
  close(): Promise<void>;
}

/** The place of a world. Opening takes the lock. */
export interface Store {
  /** The place as shown to people: a path, or `memory`. */
  readonly label: string;
  /**
   * Opens it for writing, creating it when absent.
   *
   * Contract: rejects with `world_locked` while another opener, in this process or another, holds it. With a lock it is
   * held, also while its process is stopped, until `close()` or the holder's death; with a fence until `close()` or the
   * end of its {@link OpenStore.tenure}, and everything that an opening without its tenure writes is refused.
   */
  open(): Promise<OpenStore>;
  /** Opens it for reading. Rejects with `world_absent` when the place is empty. */
  openReadonly(): Promise<ReadonlyStore>;
}
