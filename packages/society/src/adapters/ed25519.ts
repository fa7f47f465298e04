/** Ed25519 and X25519 in the forms of a society: raw keys in base64, strict verdicts, and keys encrypted for one reader. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { RepriseError } from '@reprise/contracts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** What stands before the 32 bytes of a key in its DER forms. */
const DER = {
  ed25519: { public: '302a300506032b6570032100', private: '302e020100300506032b657004220420' },
  x25519: { public: '302a300506032b656e032100', private: '302e020100300506032b656e04220420' },
} as const;

type Curve = keyof typeof DER;

/** A key pair: the raw bytes of both keys. */
export interface RawPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** Makes a key pair from random bytes of the host. */
export function makePair(curve: Curve = 'ed25519'): RawPair {
  const { publicKey, privateKey } =
    curve === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  const tail = (der: Buffer) => new Uint8Array(der.subarray(der.length - KEY_BYTES));
  return {
    publicKey: tail(publicKey.export({ format: 'der', type: 'spki' })),
    privateKey: tail(privateKey.export({ format: 'der', type: 'pkcs8' })),
  };
}

/** The id of an agent: the hex SHA-256 of its public key's bytes. */
export function agentIdOf(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex');
}

/** Whether both halves belong together. */
export function isPair({ publicKey, privateKey }: RawPair): boolean {
  const { x } = createPublicKey(privateOf('ed25519', privateKey)).export({ format: 'jwk' });
  return x === Buffer.from(publicKey).toString('base64url');
}

/** Signs bytes. @returns the base64 of the signature */
export function signBytes(privateKey: Uint8Array, bytes: Uint8Array): string {
  return sign(null, bytes, privateOf('ed25519', privateKey)).toString('base64');
}

/** Whether a key may prove anything: it is canonical, and not one of those for which anybody can make signatures. */
export function isStrongKey(publicKey: Uint8Array): boolean {
  return publicKey.length === KEY_BYTES && isCanonical(publicKey) && !isSmallOrder(publicKey);
}

/** Whether a signature is that of a strong key over bytes. A weak key, and a weak point in the signature, count for nothing. */
export function isSignature(publicKey: Uint8Array, bytes: Uint8Array, given: Uint8Array): boolean {
  if (!isStrongKey(publicKey) || given.length !== SIGNATURE_BYTES) return false;
  const point = given.subarray(0, KEY_BYTES);
  if (!isCanonical(point) || isSmallOrder(point)) return false;
  try {
    return verify(null, bytes, publicOf('ed25519', publicKey), given);
  } catch {
    return false; // not a point of the curve
  }
}

/** The bytes of base64 text of a given length; undefined for another text. */
export function bytesOf(base64: string, length: number): Uint8Array | undefined {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === length && bytes.toString('base64') === base64 ? new Uint8Array(bytes) : undefined;
}

/** The base64 of bytes, as in the fields of identities. */
export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const BOX_BYTES = 1 + KEY_BYTES + IV_BYTES + KEY_BYTES + TAG_BYTES;
const INFO = 'reprise/society private key 1';

/**
 * Encrypts a private key for the holder of an X25519 key: HKDF-SHA-256 over the secret that a fresh key shares with it, and
 * AES-256-GCM bound to the public key.
 *
 * @returns the base64 of: a version, the fresh public key, the initial vector, the encrypted bytes, the tag
 */
export function encryptKey({ publicKey, privateKey }: RawPair, to: Uint8Array): string {
  const fresh = makePair('x25519');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', boxKey(fresh.privateKey, to, fresh.publicKey, to), iv);
  cipher.setAAD(publicKey);
  const encrypted = Buffer.concat([cipher.update(privateKey), cipher.final()]);
  const parts = [Uint8Array.of(VERSION), fresh.publicKey, iv, encrypted, cipher.getAuthTag()];
  return Buffer.concat(parts).toString('base64');
}

/**
 * Decrypts `private_key_encrypted` of an agent, for its parent.
 *
 * @param encrypted as `agent_register` answers it
 * @param agent the public key of the agent, in base64
 * @param own the parent's X25519 pair
 * @returns the 32 bytes of the Ed25519 private key
 * @throws RepriseError `invalid_argument` when it was not encrypted for this pair, or was altered
 */
export function openPrivateKey(encrypted: string, agent: string, own: RawPair): Uint8Array {
  const box = bytesOf(encrypted, BOX_BYTES);
  const publicKey = bytesOf(agent, KEY_BYTES);
  if (box === undefined || box[0] !== VERSION || publicKey === undefined) throw notForThisKey();
  const fresh = box.subarray(1, 1 + KEY_BYTES);
  const iv = box.subarray(1 + KEY_BYTES, 1 + KEY_BYTES + IV_BYTES);
  const text = box.subarray(1 + KEY_BYTES + IV_BYTES, BOX_BYTES - TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', boxKey(own.privateKey, fresh, fresh, own.publicKey), iv);
  decipher.setAAD(publicKey);
  decipher.setAuthTag(box.subarray(BOX_BYTES - TAG_BYTES));
  try {
    return new Uint8Array(Buffer.concat([decipher.update(text), decipher.final()]));
  } catch {
    throw notForThisKey();
  }
}

/** Whether secrets can be shared with the holder of an X25519 key: with a point of small order they would be known to all. */
export function sharesSecrets(publicKey: Uint8Array): boolean {
  try {
    boxKey(makePair('x25519').privateKey, publicKey, publicKey, publicKey);
    return true;
  } catch {
    return false;
  }
}

function notForThisKey(): RepriseError {
  return new RepriseError('invalid_argument', 'the private key was not encrypted for this key, or was altered', {
    where: 'openPrivateKey',
    expected: '`private_key_encrypted` of the agent, and the pair whose public key its parent registered',
  });
}

function boxKey(own: Uint8Array, other: Uint8Array, fresh: Uint8Array, to: Uint8Array): Buffer {
  const secret = diffieHellman({ privateKey: privateOf('x25519', own), publicKey: publicOf('x25519', other) });
  return Buffer.from(hkdfSync('sha256', secret, Buffer.concat([fresh, to]), INFO, KEY_BYTES));
}

function publicOf(curve: Curve, raw: Uint8Array): KeyObject {
  return createPublicKey({
    key: Buffer.concat([Buffer.from(DER[curve].public, 'hex'), raw]),
    format: 'der',
    type: 'spki',
  });
}

function privateOf(curve: Curve, raw: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(DER[curve].private, 'hex'), raw]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

/** The prime of the field, 2^255 − 19. */
const P = 2n ** 255n - 19n;

/** Whether the y of a point is written in its one form, below the prime. */
function isCanonical(point: Uint8Array): boolean {
  return yOf(point) < P;
}

/** The y of the eight points of small order: each is that of one or two of them. */
const SMALL_ORDER_Y: readonly bigint[] = [
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
];

function isSmallOrder(point: Uint8Array): boolean {
  return SMALL_ORDER_Y.includes(yOf(point));
}

/** The y of an encoded point: 255 bits, the lowest first. The last bit is the sign of x. */
function yOf(point: Uint8Array): bigint {
  const bytes = Buffer.from(point).reverse();
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return BigInt(`0x${bytes.toString('hex')}`);
}
