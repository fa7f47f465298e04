import type { Hash } from '../../pure/codec/hash.js';
import type { ContentReader, ContentStore, ErasableContentStore } from '../content/port.js';
import type { Head, Journal, ReadableJournal } from '../journal/port.js';

/** A copy of a world that was made while the world was open, and that has passed verification. */
export interface Backup {
  /** Where it is. */
  readonly path: string;
  /** The last frame that is in it. Kept elsewhere, it shows later that the copy is the one that was made. */
  readonly head: Head;
  /** How many blobs it has. */
  readonly blobs: number;
}

/** An open store, held for writing by this process alone. */
export interface OpenStore {
  readonly journal: Journal;
  readonly content: ErasableContentStore;
  /** A faster sha-256 of this platform, when it has one. */
  readonly hash?: Hash;
  /**
   * Whether the last holder closed the store properly. After an unclean close recovery is more careful
   * with facts that may have exhausted the machine.
   */
  readonly cleanlyClosed: boolean;
  /**
   * Notes, outside the journal and its chain, the fact that is about to be folded (null: none). A crash while
   * a note stands tells the next opener which fact not to fold in full. Durable when it resolves.
   */
  mark(note: string | null): Promise<void>;
  /** The note that stood when the store was opened. */
  readonly markAtOpen: string | null;
  /**
   * Copies the world to another place, where nothing is, while it goes on. A store that cannot has no such method.
   *
   * Contract: the copy holds everything that was acknowledged when it was called; it verifies; nothing that is there is
   * replaced; when it rejects there is nothing at `to`.
   */
  backup?(to: string): Promise<Backup>;
  /** Gives the store up and notes a clean close; a note of {@link mark} stays. Idempotent. */
  close(): Promise<void>;
}

/** An open store, for reading: verification, inspection, export. Takes no lock and never writes. */
export interface ReadonlyStore {
  readonly journal: ReadableJournal;
  readonly content: ContentReader & Pick<ContentStore, 'list'>;
  readonly hash?: Hash;
  close(): Promise<void>;
}

/** A place where a world is or will be kept. Opening is what takes the lock. */
export interface Store {
  /** What people see of it: a path, or `memory`. */
  readonly label: string;
  /**
   * Opens it for writing, creating it when absent.
   *
   * Contract: rejects with `world_locked` while another opener, in this process or another, running or stopped,
   * holds it; the lock ends with `close()` or the holder's death.
   */
  open(): Promise<OpenStore>;
  /** Opens it for reading. Rejects with `world_absent` when there is nothing there. */
  openReadonly(): Promise<ReadonlyStore>;
}
