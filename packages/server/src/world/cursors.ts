/**
 * Places in a list, sealed for the principal that is given them.
 *
 * A place names a row, and the row behind a page may be one that the principal may not read. So a cursor is encrypted, has
 * one length for all places, and is refused when it was altered, or given to another principal.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Principal } from '@reprise/contracts';

const CIPHER = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];

/** The bytes of a place; longer ones do not occur: a key has at most 256 bytes, which a place writes as 512 digits. */
const PLACE_BYTES = 1_024;
const LENGTH_BYTES = 2;

/** Seals and opens cursors. They are valid as long as the server runs. */
export class Cursors {
  readonly #key = randomBytes(32);

  /** Seals a place, so that only this principal can present it. */
  seal(place: string, principal: Principal): string {
    const text = Buffer.from(place);
    const padded = Buffer.alloc(LENGTH_BYTES + PLACE_BYTES);
    padded.writeUInt16BE(text.length);
    padded.set(text, LENGTH_BYTES);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(principal));
    const sealed = [cipher.update(padded), cipher.final()];
    return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** The place of a cursor; undefined for what {@link seal} did not make for this principal. */
  open(cursor: string, principal: Principal): string | undefined {
    const bytes = Buffer.from(cursor, 'base64url');
    if (bytes.length !== IV_BYTES + LENGTH_BYTES + PLACE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(principal)).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const padded = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
      return padded.toString('utf8', LENGTH_BYTES, LENGTH_BYTES + padded.readUInt16BE());
    } catch {
      return undefined;
    }
  }
}
