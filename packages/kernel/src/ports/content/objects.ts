/**
 * The object store port: bytes by name, for content that is too large for the rows of a database. Suite:
 * `testObjectStore` of the testkit.
 */

/** A place for objects that a database names. The database alone knows which of them are content. */
export interface ObjectStore {
  /** The place as shown to people, without secrets. */
  readonly label: string;

  /**
   * Stores an object, in place of the one that has the name. What is ever removed has a name that is used once, so that it
   * never comes again; a witness uses its names again and again, and removes none.
   *
   * Contract: durable when it resolves, and what `get` gives from then on; after it rejected the object may be there.
   * Rejects with `store_failed`.
   *
   * @param name letters, digits, `-`, `_`, `.` and `/`
   * @param bytes at most 64 MiB
   */
  put(name: string, bytes: Uint8Array): Promise<void>;

  /** The bytes of an object, the caller's own; undefined without one. Rejects with `store_failed`. */
  get(name: string): Promise<Uint8Array | undefined>;

  /**
   * Removes an object with all versions of it that the place keeps. Without such an object it has nothing to do.
   *
   * Contract: when it resolves, no read by name, of this version or an earlier one, gives its bytes. May be called
   * again, and must be after it rejected. Rejects with `store_failed`.
   */
  remove(name: string): Promise<void>;
}
