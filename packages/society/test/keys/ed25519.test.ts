import { createHash, webcrypto } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  agentIdOf,
  base64Of,
  bytesOf,
  encryptKey,
  isSignature,
  isStrongKey,
  makePair,
  openPrivateKey,
  signBytes,
} from '../../src/adapters/ed25519.js';

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));

/** RFC 8032, section 7.1: test 3. */
const RFC = {
  private: hex('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7'),
  public: hex('fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025'),
  message: hex('af82'),
  signature: hex(
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ),
};

/** The group order. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const P = 2n ** 255n - 19n;

describe('signatures of agents', () => {
  it('signatures agree with the published vectors of Ed25519', () => {
    expect(signBytes(RFC.private, RFC.message)).toBe(base64Of(RFC.signature));
    expect(isSignature(RFC.public, RFC.message, RFC.signature)).toBe(true);
    expect(agentIdOf(RFC.public)).toBe(createHash('sha256').update(RFC.public).digest('hex'));
  });

  it('a signature that was altered in any bit counts for nothing', () => {
    for (let bit = 0; bit < 512; bit++) {
      const altered = Uint8Array.from(RFC.signature);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect([bit, isSignature(RFC.public, RFC.message, altered)]).toEqual([bit, false]);
    }
  });

  it('the second form of a signature, its number raised by the order of the group, counts for nothing', () => {
    const s = littleOf(RFC.signature.subarray(32)) + L;
    const second = Buffer.concat([RFC.signature.subarray(0, 32), bytesLittle(s)]);
    expect(isSignature(RFC.public, RFC.message, second)).toBe(false);
  });

  it('keys of small order are refused in each of their forms, for they fit any message [SOC-9]', () => {
    const points = smallOrderPoints();
    expect(points).toHaveLength(8);
    const forms = points.flatMap((y) => [y, y + P]).filter((y) => y < 2n ** 255n);
    for (const y of forms) {
      for (const sign of [0n, 1n << 255n]) {
        const key = bytesLittle(y | sign);
        expect([y, isStrongKey(key)]).toEqual([y, false]);
        // The point itself with the number 0 is a signature of it under a lenient check.
        expect(isSignature(key, RFC.message, Buffer.concat([key, new Uint8Array(32)]))).toBe(false);
      }
    }
    for (let n = 0; n < 50; n++) expect(isStrongKey(makePair().publicKey)).toBe(true);
  });

  it('base64 in another form than the one of its bytes is refused', () => {
    const [text] = [base64Of(RFC.public)];
    expect(bytesOf(text, 32)).toEqual(RFC.public);
    const last = text.at(-2) === 'U' ? 'V' : 'U';
    for (const other of [`${text} `, text.slice(0, -1), text.replace(/=$/, ''), `${text.slice(0, -2)}${last}=`, ''])
      expect(bytesOf(other, 32) === undefined || bytesOf(other, 32)?.join() !== RFC.public.join()).toBe(true);
  });
});

describe('a private key that is encrypted for a parent', () => {
  const parent = makePair('x25519');
  const agent = makePair();

  it('an encrypted key is opened by the pair of the parent, and by no other [SOC-5]', () => {
    const encrypted = encryptKey(agent, parent.publicKey);
    expect(openPrivateKey(encrypted, base64Of(agent.publicKey), parent)).toEqual(agent.privateKey);
    expect(() => openPrivateKey(encrypted, base64Of(agent.publicKey), makePair('x25519'))).toThrow('not encrypted for');
    expect(() => openPrivateKey(encrypted, base64Of(makePair().publicKey), parent)).toThrow('not encrypted for');
    const altered = Buffer.from(encrypted, 'base64');
    for (const at of [0, 5, 40, 60, altered.length - 1]) {
      const other = Buffer.from(altered);
      other[at] = (other[at] ?? 0) ^ 1;
      expect(() => openPrivateKey(other.toString('base64'), base64Of(agent.publicKey), parent)).toThrow();
    }
  });

  it('an encrypted key is opened by another implementation that follows the documented form', async () => {
    const box = Buffer.from(encryptKey(agent, parent.publicKey), 'base64');
    const [fresh, iv, text] = [box.subarray(1, 33), box.subarray(33, 45), box.subarray(45)];
    const { subtle } = webcrypto;
    const der = Buffer.concat([hex('302e020100300506032b656e04220420'), parent.privateKey]);
    const own = await subtle.importKey('pkcs8', der, { name: 'X25519' }, false, ['deriveBits']);
    const other = await subtle.importKey('raw', fresh, { name: 'X25519' }, false, []);
    const secret = await subtle.deriveBits({ name: 'X25519', public: other }, own, 256);
    const material = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
    const salt = Buffer.concat([fresh, parent.publicKey]);
    const info = Buffer.from('reprise/society private key 1');
    const derive = { name: 'HKDF', hash: 'SHA-256', salt, info };
    const key = await subtle.deriveKey(derive, material, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
    const opened = await subtle.decrypt({ name: 'AES-GCM', iv, additionalData: agent.publicKey }, key, text);
    expect(new Uint8Array(opened)).toEqual(agent.privateKey);
  });

  it('two encryptions of one key have nothing in common, and hold the key in no form', () => {
    const all = [encryptKey(agent, parent.publicKey), encryptKey(agent, parent.publicKey)];
    expect(all[0]?.slice(2)).not.toBe(all[1]?.slice(2));
    for (const one of all) expect(Buffer.from(one, 'base64').includes(Buffer.from(agent.privateKey))).toBe(false);
  });
});

function littleOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function bytesLittle(n: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse());
}

/** The y of the points whose eightfold is the neutral point, found on the curve itself. */
function smallOrderPoints(): readonly bigint[] {
  const d = mod(-121665n * power(121666n, P - 2n));
  const found = new Map<string, bigint>();
  for (let y = 2n; found.size < 8; y++) {
    const x = rootOf(mod((y * y - 1n) * power(mod(d * y * y + 1n), P - 2n)));
    if (x === undefined) continue;
    let point: Point = { x: 0n, y: 1n };
    const torsion = times({ x, y }, L, d); // what is left of a random point has an order that divides 8
    for (let n = 0; n < 8; n++) {
      point = add(point, torsion, d);
      found.set(`${point.x},${point.y}`, point.y);
    }
  }
  return [...found.values()];
}

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

function add(a: Point, b: Point, d: bigint): Point {
  const t = mod(d * a.x * b.x * a.y * b.y);
  return {
    x: mod((a.x * b.y + b.x * a.y) * power(mod(1n + t), P - 2n)),
    y: mod((a.y * b.y + a.x * b.x) * power(mod(1n - t), P - 2n)),
  };
}

function times(point: Point, n: bigint, d: bigint): Point {
  let sum: Point = { x: 0n, y: 1n };
  for (let doubled = point, left = n; left > 0n; left >>= 1n, doubled = add(doubled, doubled, d))
    if (left & 1n) sum = add(sum, doubled, d);
  return sum;
}

function rootOf(n: bigint): bigint | undefined {
  const x = power(n, (P + 3n) / 8n);
  for (const root of [x, mod(x * power(2n, (P - 1n) / 4n))]) if (mod(root * root) === n) return root;
  return undefined;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = mod(b * b)) if (e & 1n) result = mod(result * b);
  return result;
}

function mod(n: bigint): bigint {
  return ((n % P) + P) % P;
}
