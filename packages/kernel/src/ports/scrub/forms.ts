/** The forms in which a secret may be echoed. */
import { toHex } from '../../pure/codec/index.js';
import { SECRET_LENGTH_MAX, SECRET_LENGTH_MIN } from './bounds.js';
import { readEscapes } from './reading.js';

/**
 * Placeholder keys for local servers. They occur in ordinary text.
 */
const PLACEHOLDERS: readonly string[] = [
  'lm-studio',
  'no-key-required',
  'sk-no-key-required',
  'not-needed',
  'not-required',
  'placeholder',
  'anything',
];

/** The texts to look for: the text itself and its lines, since a key of many lines may be echoed line by line. */
export function secretsIn(text: string): string[] {
  const trimmed = text.trim();
  const lines = trimmed.includes('\n') ? trimmed.split('\n').map((line) => line.trim()) : [];
  const whole = trimmed.length <= SECRET_LENGTH_MAX ? [trimmed] : [];
  return [...whole, ...lines.filter((line) => !line.startsWith('-----'))].filter(isSecret);
}

function isSecret(text: string): boolean {
  return (
    text.length >= SECRET_LENGTH_MIN && text.length <= SECRET_LENGTH_MAX && !PLACEHOLDERS.includes(text.toLowerCase())
  );
}

/** The patterns of a secret: in plain text, and in text with its escapes undone. */
interface Forms {
  readonly plain: readonly string[];
  readonly read: readonly string[];
}

/** The forms of a secret: plain, as UTF-8 bytes, base64, hex, and form-encoded. */
export function formsOf(secret: string): Forms {
  const bytes = new TextEncoder().encode(secret);
  const encoded = [0, 1, 2].flatMap((offset) => base64Within(bytes, offset));
  const plain = [...new Set([secret, latin(bytes), latin(bytes).replaceAll(' ', '+'), toHex(bytes), ...encoded])];
  return { plain, read: [...new Set(plain.map(undone))] };
}

function undone(form: string): string {
  const reading = readEscapes(unitsOf(form));
  return reading === undefined ? form : textOf(reading.units);
}

/**
 * The part that the base64 of every text with this one at `offset` bytes after a multiple of three has in common:
 * `user:secret` is encoded as a whole, so the secret begins anywhere in a group of three.
 */
function base64Within(bytes: Uint8Array, offset: number): string[] {
  const padded = new Uint8Array(offset + bytes.length);
  padded.set(bytes, offset);
  const from = Math.ceil((offset * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  const form = btoa(latin(padded)).slice(from, to);
  return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
}

/** The units of a text. */
export function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return units;
}

function textOf(units: Uint16Array): string {
  return latin(units);
}

/** One character for each unit. */
function latin(units: Uint8Array | Uint16Array): string {
  let text = '';
  for (const unit of units) text += String.fromCharCode(unit);
  return text;
}
