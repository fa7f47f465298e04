import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { cpuMsOf } from '../../../../../scripts/lib/cpu.js';
import { SECRETS_MAX } from '../../../src/ports/scrub/bounds.js';
import { Scrubber } from '../../../src/ports/scrub/index.js';

const KEY = 'sk-Live/9f+8e=7d?"6c\\5b~4a é';
const upper = (text: string) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
const utf8 = (text: string) => new TextEncoder().encode(text);
const fromUtf8 = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('a secret in a text', () => {
  const scrubber = new Scrubber([KEY]);
  const json = JSON.stringify(KEY).slice(1, -1);
  const everyUnit = [...KEY].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const forms: readonly (readonly [string, string])[] = [
    ['as it is', KEY],
    ['in lower case', KEY.toLowerCase()],
    ['in upper case', upper(KEY)],
    ['as JSON text', json],
    ['as JSON text with escaped slashes', json.replaceAll('/', '\\/')],
    ['as JSON text of escapes alone', everyUnit],
    ['as JSON text inside of JSON text', JSON.stringify(JSON.stringify(KEY))],
    ['in a URL', encodeURIComponent(KEY)],
    ['in a URL inside of a URL', encodeURIComponent(encodeURIComponent(KEY))],
    ['in a form', new URLSearchParams([['', KEY]]).toString().slice(1)],
    ['in HTML', KEY.replaceAll('"', '&quot;').replaceAll('/', '&#x2F;')],
    ['in hex', Buffer.from(KEY).toString('hex')],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64 behind a user', Buffer.from(`ann:${KEY}`).toString('base64')],
    ['in base64 between others', Buffer.from(`{"k":"${KEY}","n":1}`).toString('base64')],
    ['in base64 for URLs', Buffer.from(KEY).toString('base64url')],
  ];
  it.each(forms)('a secret is removed where it stands %s [CON-16]', (_name, form) => {
    for (const text of [form, `before ${form} after`, `x${form}`, `${form}${form}`]) {
      const scrubbed = scrubber.scrub(text);
      expect(scrubbed).toContain('[secret]');
      expect(new Scrubber([KEY]).scrub(scrubbed)).toBe(scrubbed);
      expect(fromUtf8(scrubber.bytes(utf8(text)))).toContain('[secret]');
      expect(scrubbed.length).toBeLessThan(text.length);
    }
    expect(scrubber.scrub(`before ${form} after`)).toMatch(/^before .{0,10}\[secret\].{0,24} after$/s);
  });

  it('the text around a secret stays the same, byte for byte', () => {
    const text = 'C:\\new\\u00 100% &c. \\ %2 [sk-Live/9f] é☃';
    expect(scrubber.scrub(text)).toBe(text);
    const bytes = utf8(text);
    expect(scrubber.bytes(bytes)).toBe(bytes);
  });

  it('a secret needs eight characters, and the placeholder keys of local servers are never secrets', () => {
    const open = new Scrubber(['1234567', 'ollama', 'not-needed', '   short ']);
    expect(open.idle).toBe(true);
    expect(open.scrub('1234567 ollama not-needed')).toBe('1234567 ollama not-needed');
    expect(new Scrubber(['12345678']).scrub('a12345678b')).toBe('a[secret]b');
  });

  it('a secret is found without the blanks around it, and each line of a secret by itself', () => {
    const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n';
    const keys = new Scrubber([' sk-12345678\n', pem]);
    expect(keys.scrub('a sk-12345678 b')).toBe('a [secret] b');
    expect(keys.scrub('> hkiG9w0BAQEFAASC')).toBe('> [secret]');
    expect(keys.scrub('-----BEGIN KEY-----')).toBe('-----BEGIN KEY-----');
  });
});

describe('a scrubber with more secrets than its bound', () => {
  const others = (scrubber: Scrubber, each: () => void) => {
    for (let i = 0; i < 2 * SECRETS_MAX; i++) {
      each();
      scrubber.conceal(`token-${i}-abcdefgh`);
    }
  };

  it('a full scrubber removes its first secrets, and those that are still declared [CON-16]', () => {
    const scrubber = new Scrubber(['from-the-beginning']);
    others(scrubber, () => scrubber.conceal('with-every-request'));
    expect(scrubber.scrub('from-the-beginning, with-every-request')).toBe('[secret], [secret]');
  });

  it('a full scrubber forgets the secret that was declared longest ago', () => {
    const scrubber = new Scrubber();
    others(scrubber, () => undefined);
    expect(scrubber.scrub('token-0-abcdefgh')).toBe('token-0-abcdefgh');
    expect(scrubber.scrub(`token-${SECRETS_MAX}-abcdefgh`)).toBe('[secret]');
  });
});

describe('a secret in a value', () => {
  it('secrets are removed from texts, keys and bytes of a value; a value without a secret stays the same object [CON-16]', () => {
    const scrubber = new Scrubber([KEY]);
    const clean = { a: ['x', { b: 1 }], c: null };
    expect(scrubber.value(clean)).toBe(clean);
    const value = { [KEY]: 1, [upper(KEY)]: 2, list: [KEY, utf8(KEY), clean] };
    expect(scrubber.value(value)).toEqual({
      '[secret]': 1,
      '[secret]2': 2,
      list: ['[secret]', utf8('[secret]'), clean],
    });
  });
});

const inHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('/', '&#x2F;');

/** A text in lines of twelve characters. */
function wrapped(text: string, lineBreak: string): string {
  return text.replace(/.{12}/gs, `$&${lineBreak}`);
}

/** A text of secrets, parts of secrets and other words, and where it is cut. */
function pieces(secrets: readonly string[]) {
  const parts = secrets.flatMap((one) => [
    one,
    one.slice(0, 5),
    one.slice(5),
    JSON.stringify(one).slice(1, -1),
    encodeURIComponent(one),
    encodeURIComponent(encodeURIComponent(one)),
    JSON.stringify(JSON.stringify(one)).slice(3, -3),
    inHtml(inHtml(one)),
    Buffer.from(`u:${one}`).toString('base64'),
  ]);
  const word = fc.constantFrom(...parts, '\\', '\\u00', '%', '%2', '&', '&quot;', 's', ' ', 'é', '"');
  return fc.tuple(fc.array(word, { maxLength: 12 }), fc.array(fc.nat({ max: 12 }), { maxLength: 60 }));
}

function holdPieces(secrets: readonly string[], piecewise: (scrubber: Scrubber, cuts: readonly string[]) => string) {
  const scrubber = new Scrubber(secrets);
  fc.assert(
    fc.property(pieces(secrets), ([words, sizes]) => {
      const text = words.join('');
      const cuts: string[] = [];
      let at = 0;
      for (const size of sizes) {
        cuts.push(text.slice(at, at + size));
        at += size;
      }
      cuts.push(text.slice(at));
      const told = piecewise(scrubber, cuts);
      expect(scrubber.scrub(told)).toBe(told);
      // Bytes that stand between two secrets may be told with either.
      for (const secret of secrets) expect(told.toLowerCase()).not.toContain(secret.toLowerCase());
    }),
    { seed: 7, numRuns: 2_000 / stepOf(4) },
  );
}

describe('a secret in a text that comes in pieces (seed 7)', () => {
  const secrets = [KEY, 'abababababab', 'ababababcc', 'user:pass-1234'];
  const whole = (scrubber: Scrubber, cuts: readonly string[]) => {
    const teller = scrubber.piecewise();
    return cuts.map((piece) => teller.push(piece)).join('') + teller.end();
  };

  it('a secret is removed wherever the text is cut into pieces [CON-16]', () => {
    holdPieces(secrets, whole);
  });

  it.each([
    ['in a URL inside of a URL', encodeURIComponent(encodeURIComponent(KEY))],
    ['in a URL inside of two', encodeURIComponent(encodeURIComponent(encodeURIComponent(KEY)))],
    ['in HTML', inHtml(KEY)],
    ['in HTML inside of HTML', inHtml(inHtml(KEY))],
    ['as JSON text inside of JSON text', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ])('a secret is removed where it stands %s, wherever the text is cut [CON-16]', (_, form) => {
    const scrubber = new Scrubber([KEY]);
    const told = scrubber.scrub(`<${form}>`);
    expect(told).toBe('<[secret]>');
    for (let at = 1; at <= form.length; at++)
      expect(whole(scrubber, [`<${form.slice(0, at)}`, `${form.slice(at)}>`])).toBe(told);
    expect(whole(scrubber, [...`<${form}>`])).toBe(told);
  });

  it.each([
    ['base64', wrapped(Buffer.from(`some words before ${KEY} and after it`).toString('base64'), '\n')],
    ['base64 with a line break of two characters', wrapped(Buffer.from(`before ${KEY}`).toString('base64'), '\r\n')],
    ['base64 as JSON text', JSON.stringify(wrapped(Buffer.from(`before ${KEY}`).toString('base64'), '\n'))],
    ['the text itself', wrapped(KEY, '\n')],
    ['hex with empty lines', wrapped(Buffer.from(KEY).toString('hex'), '\n\n')],
  ])('a secret is removed from lines that were wrapped, wherever the text is cut: %s [CON-16]', (_, form) => {
    const scrubber = new Scrubber([KEY]);
    const text = `first line\n${form}\nlast line`;
    const told = scrubber.scrub(text);
    expect(told).toMatch(/^first line\n.{0,40}\[secret\].{0,40}\nlast line$/s);
    for (let at = 1; at < text.length; at++)
      expect(whole(scrubber, [text.slice(0, at), text.slice(at)]), `cut at ${at}`).toBe(told);
    expect(whole(scrubber, [...text])).toBe(told);
  });

  it('line breaks without end are not held back, and the time is linear in them', () => {
    const teller = new Scrubber([KEY]).piecewise();
    let passed = teller.push(KEY.slice(0, 5)).length;
    for (let n = 0; n < 2_000; n++) passed += teller.push('\n'.repeat(100)).length;
    expect(passed).toBe(200_005);
  });

  it('mutant: a scrubber that looks at each piece alone lets a secret through, and the check finds it', () => {
    const alone = (scrubber: Scrubber, cuts: readonly string[]) => cuts.map((piece) => scrubber.scrub(piece)).join('');
    expect(() => holdPieces(secrets, alone)).toThrow();
  });

  it('a scrubber holds back no more text than may be the beginning of a secret', () => {
    const teller = new Scrubber([KEY]).piecewise();
    expect(teller.push('nothing here. sk-')).toBe('nothing here. ');
    expect(teller.push('nothing')).toBe('sk-nothing');
    expect(teller.push(`${KEY}!`)).toBe('[secret]!');
    expect(teller.push('\\'.repeat(100_000)).length).toBeGreaterThan(99_000);
  });

  it('a secret is removed from bytes as from text [CON-16]', async () => {
    const scrubber = new Scrubber([KEY]);
    const bytes = utf8(`a${KEY}b${encodeURIComponent(KEY)}c`);
    for (const size of [1, 2, 3, 7, 30]) {
      async function* cut() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      }
      const told: Uint8Array[] = [];
      for await (const piece of scrubber.pieces(cut())) told.push(piece);
      expect(Buffer.concat(told).toString()).toBe('a[secret]b[secret]c');
    }
  });
});

describe('the cost of looking for secrets', () => {
  it('the time of a search is linear in the text, for one secret and for many', async () => {
    const many = new Scrubber(Array.from({ length: 500 }, (_, i) => `secret-${'a'.repeat(40)}${i}`));
    const text = `secret-${'a'.repeat(39)}b`.repeat(20_000); // each is nearly one of them
    expect(await cpuMsOf(() => expect(many.scrub(text)).toBe(text))).toBeLessThan(5_000);
  });

  it('a scrubber without secrets returns the same objects and does no work', () => {
    const none = new Scrubber();
    const bytes = utf8('x');
    expect(none.bytes(bytes)).toBe(bytes);
  });
});
