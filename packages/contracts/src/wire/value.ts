/**
 * Canonical values: the only data that Reprise hashes, journals or compares.
 *
 * A value is null, a boolean, a finite number, well-formed text, bytes, a link, a list of values or a
 * map from text to values. Everything else (NaN, holes, class instances, functions, lone surrogates,
 * bigint, cycles) is refused at ingress with the path where it stands.
 */

import { DIGEST_HEX, toHex } from '../text/hex.js';

const REF_BRAND: unique symbol = Symbol.for('reprise.ref') as never;

/** The length of a sha-256. */
const DIGEST_BYTES = 32;

/** A value that has exactly one canonical byte string. */
export type Value = null | boolean | number | string | Uint8Array | Ref | readonly Value[] | ValueMap;

/** A map from text to values. Key order never matters: bytes sort keys by length, then by byte. */
export interface ValueMap {
  readonly [key: string]: Value;
}

/**
 * A link to content by its sha-256. In bytes it is CBOR tag 42 (a CIDv1); in memory it is this object; people see
 * `sha256:…`. It is never made from text inside a value, so a hash that a person pastes into a prompt links nothing,
 * pins nothing and exports nothing.
 *
 * @example
 * Ref.fromHex('e3b0c442…b855').toString() // 'sha256:e3b0c442…b855'
 */
export class Ref {
  /** The sha-256 of the content, as 64 lower-case hex digits. */
  readonly hex: string;
  /**
   * How to read the content: as `raw` bytes, or as a canonical `value` whose own links can be followed. Content from
   * outside is always `raw`, so bytes that merely look like a value never make a store keep what they seem to link.
   */
  readonly kind: 'raw' | 'value';
  /** Only the constructor gives this mark, so no other object can claim to be a checked link. */
  readonly #checked = true;

  private constructor(hex: string, kind: 'raw' | 'value') {
    this.hex = hex;
    this.kind = kind;
    Object.freeze(this); // shared: the codec returns the same link for the same recent digest
  }

  static {
    Object.defineProperty(Ref.prototype, REF_BRAND, { value: true }); // once for all: links are made by the thousand
  }

  /**
   * Makes a link from a digest.
   *
   * @param hex 64 lower-case hex digits, as computed by a content store
   * @param kind `raw` unless the content is known to be a canonical value
   * @throws TypeError when the text is not a digest: only code that has hashed bytes may call this
   */
  static fromHex(hex: string, kind: 'raw' | 'value' = 'raw'): Ref {
    if (!DIGEST_HEX.test(hex)) throw new TypeError(`not a sha-256 digest in hex: ${hex.slice(0, 80)}`);
    return new Ref(hex, kind);
  }

  /**
   * Makes a link from the bytes of a digest.
   *
   * @param digest the 32 bytes of a sha-256
   * @param kind `raw` unless the content is known to be a canonical value
   * @throws TypeError when it has another length
   */
  static fromDigest(digest: Uint8Array, kind: 'raw' | 'value' = 'raw'): Ref {
    if (digest.length !== DIGEST_BYTES) throw new TypeError(`not a sha-256 digest: ${digest.length} bytes`);
    return new Ref(toHex(digest), kind);
  }

  /** Whether a thing is a link that this copy of the package made: its digest is known to be one. */
  static isChecked(thing: object): thing is Ref {
    return #checked in thing && thing.#checked;
  }

  /** The link to the same content that says it is a canonical value. */
  asValue(): Ref {
    return this.kind === 'value' ? this : new Ref(this.hex, 'value');
  }

  /** The form people see: `sha256:` and the digest. */
  toString(): string {
    return `sha256:${this.hex}`;
  }

  /** The same form, for `JSON.stringify` in tools; it does not read back as a link. */
  toJSON(): string {
    return this.toString();
  }
}

/** Whether a thing is a link; true for links made by another copy of this package as well. */
export function isRef(thing: unknown): thing is Ref {
  return typeof thing === 'object' && thing !== null && (thing as Record<symbol, unknown>)[REF_BRAND] === true;
}
