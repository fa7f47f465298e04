/** Signatures of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, by secrets in base64 that begin with `whsec_`. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { RepriseError } from '@reprise/contracts';

/** The headers of a message. */
export const HEADERS = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

const PREFIX = 'whsec_';

/** The bytes of a secret: less can be guessed, and more gains nothing. */
const SECRET_BYTES = { min: 24, max: 64 } as const;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What is signed: the parts of a message that a signature covers. */
interface Signed {
  readonly id: string;
  /** In seconds since 1970, as the header has it. */
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/**
 * The key in a secret.
 *
 * @throws RepriseError `invalid_argument` for anything but 24 to 64 bytes in base64; it does not show the secret
 */
export function keyOf(secret: string, name: string): Uint8Array {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = BASE64.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (key.length >= SECRET_BYTES.min && key.length <= SECRET_BYTES.max) return key;
  throw new RepriseError('invalid_argument', `invalid secret "${name}" of webhooks`, {
    where: name,
    expected: `whsec_ and ${SECRET_BYTES.min} to ${SECRET_BYTES.max} random bytes in base64`,
    actual: `${secret.length} characters`,
    hint: `Make one: \`node -e "console.log('whsec_' + crypto.randomBytes(32).toString('base64'))"\`.`,
  });
}

/** The value of the header of signatures: one for each key, so that receivers may change over to another one. */
export function signatures(keys: readonly Uint8Array[], signed: Signed): string {
  return keys.map((key) => `v1,${mac(key, signed).toString('base64')}`).join(' ');
}

/** Whether one of the signatures in a header was made by one of the keys. */
export function isSignedBy(keys: readonly Uint8Array[], signed: Signed, header: string): boolean {
  const given = header.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice('v1,'.length)] : []));
  return keys.some((key) => {
    const wanted = mac(key, signed).toString('base64');
    return given.some((text) => isSame(text, wanted));
  });
}

/** Compares texts in a time that does not depend on where they differ. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function mac(key: Uint8Array, { id, timestamp, body }: Signed): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}
