/** The encodings in which stored bytes may contain a text. */
import { toHex } from '@reprise/kernel';

/** The shortest text that is searched for: bytes contain shorter ones by chance. */
const LENGTH_MIN = 6;

/** The encoding in which bytes contain a text: plain, hex, base64 or a URL; undefined when they do not contain it. */
export function formWithin(bytes: Uint8Array, text: string): string | undefined {
  const within = latin(bytes);
  return formsOf(text).find(([, form]) => form.length >= LENGTH_MIN && within.includes(form))?.[0];
}

function formsOf(text: string): readonly (readonly [name: string, form: string])[] {
  const bytes = new TextEncoder().encode(text);
  const base64 = [0, 1, 2].map((offset) => innerBase64(bytes, offset));
  return [
    ['as it is', latin(bytes)],
    ['as JSON text', latin(new TextEncoder().encode(JSON.stringify(text).slice(1, -1)))],
    ['in a URL', encodeURIComponent(text)],
    ['in a form', new URLSearchParams([['', text]]).toString().slice(1)],
    ['in hex', toHex(bytes)],
    ...base64.map((form) => ['in base64', form] as const),
    ...base64.map((form) => ['in base64 for URLs', form.replaceAll('+', '-').replaceAll('/', '_')] as const),
  ];
}

/**
 * The part of base64 that is the same for every text with this one at an offset of `offset` bytes from a multiple of
 * three: `user:secret` is encoded whole, so the secret begins anywhere in a group.
 */
function innerBase64(bytes: Uint8Array, offset: number): string {
  const padded = new Uint8Array(offset + bytes.length);
  padded.set(bytes, offset);
  const from = offset === 0 ? 0 : 4;
  const whole = Math.floor(padded.length / 3) * 4;
  return btoa(latin(padded)).slice(from, whole);
}

/** Bytes as text, one UTF-16 unit for each. */
function latin(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
