/**
 * The key service port: keys by name, for content that is encrypted where it is stored. Suite: `testKeyService` of the
 * testkit.
 */

/** The bytes of a key of a {@link KeyService}. */
export const KEY_BYTES = 32;

/**
 * A place for keys, outside of the database whose content they encrypt and outside of its backups. A copy of the
 * database is worth nothing without it, and a key that is destroyed takes the content of all copies with it.
 */
export interface KeyService {
  /** The place as shown to people, without secrets. */
  readonly label: string;

  /**
   * The key of each name; those that are missing are made, of 32 random bytes each.
   *
   * Contract: durable when it resolves; two calls with one name, of any processes at any time, get the same key as long as
   * it is not destroyed. A name may stand in a call twice. A name whose key was destroyed gets a new one. Rejects with
   * `store_failed` or `store_full`; after that, any of the keys may have been made.
   *
   * @param names letters, digits, `-`, `_`, `.` and `/`, 512 at most
   * @returns the caller's own bytes, in the order of the names
   */
  keep(names: readonly string[]): Promise<readonly Uint8Array[]>;

  /** The keys that there are, in the order of the names, and undefined for the others. Makes none. Rejects with `store_failed`. */
  find(names: readonly string[]): Promise<readonly (Uint8Array | undefined)[]>;

  /**
   * Destroys keys for good. Names without a key have nothing to destroy.
   *
   * Contract: when it resolves, that is durable, and no file, version or backup that the place owns holds the keys; no
   * call of any process gets one of them again. May be called again, and must be after it rejected. Rejects with
   * `store_failed`. No caller keeps a name while it is being destroyed.
   */
  destroy(names: readonly string[]): Promise<void>;
}
