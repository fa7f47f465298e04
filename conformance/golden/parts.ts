/**
 * The parts of a world's bytes in order: the rows of its frames, their records, its blobs. Stored beside a golden
 * world, they name the part in which a byte differs, also when nothing can be decoded any more.
 *
 * As text: a line for each part, `<first byte> <digest> <name>`, and last the digest of these lines.
 */
import type { Value } from '@reprise/contracts';
import { decode, encode, equalBytes, FRAME_DEPTH_MAX } from '@reprise/kernel';
import { sha256 } from './worlds.js';

/** A stretch of a world's bytes. */
export interface Part {
  /** The name of the part, for example `frame 12, record 3 (effect)`. */
  readonly name: string;
  readonly from: number;
  /** The first byte after it. */
  readonly to: number;
}

interface Saved {
  readonly frames: readonly { readonly bytes: Uint8Array }[];
  readonly blobs: readonly Uint8Array[];
}

/** Every part of a world that `saveWorld` gave, in order and without gaps. */
export function partsOf(world: Uint8Array): Part[] {
  const { frames, blobs } = decode(world) as unknown as Saved;
  const parts: Part[] = [];
  let at = 0;
  const upTo = (to: number, name: string) => {
    if (to > at) parts.push({ name, from: at, to });
    at = to;
  };
  const skipTo = (piece: Uint8Array) => upTo(Buffer.from(world).indexOf(piece, at), 'the envelope of the file');
  for (const blob of blobs) {
    const piece = encode(blob);
    skipTo(piece);
    upTo(at + piece.length, `blob sha256:${sha256(blob)}`);
  }
  for (const [seq, frame] of frames.entries()) {
    const row = encode(frame as unknown as Value);
    skipTo(row);
    upTo(at + row.length - frame.bytes.length, `frame ${seq}, its row`);
    const records = decode(frame.bytes, FRAME_DEPTH_MAX) as readonly { readonly kind: string }[];
    const pieces = records.map((record) => encode(record as unknown as Value, FRAME_DEPTH_MAX));
    const inside = pieces.reduce((sum, { length }) => sum + length, 0);
    upTo(at + frame.bytes.length - inside, `frame ${seq}, its number of records`);
    for (const [i, piece] of pieces.entries()) {
      if (!equalBytes(world.subarray(at, at + piece.length), piece)) throw new Error(`frame ${seq} is not where it is`);
      upTo(at + piece.length, `frame ${seq}, record ${i} (${records[i]?.kind})`);
    }
  }
  upTo(world.length, 'the envelope of the file');
  return parts;
}

/** The parts of a world as text, to be stored beside it. */
export function partsText(world: Uint8Array): string {
  const lines = partsOf(world).map(({ name, from, to }) => `${from} ${digestOf(world, from, to)} ${name}\n`);
  lines.push(`${world.length} ${'-'.repeat(DIGEST_LENGTH)} the end\n`);
  const text = lines.join('');
  return `${text}sha256 ${sha256(Buffer.from(text))}\n`;
}

/** The first part in which the bytes of a world differ from those that the text describes; undefined when they are equal. */
export function firstChange(world: Uint8Array, text: string): Part | undefined {
  const lines = text.split('\n').slice(0, -2).map(readLine);
  for (const [i, { from, digest, name }] of lines.entries()) {
    const to = lines[i + 1]?.from ?? from;
    if (from < to && digestOf(world, from, to) !== digest) return { name, from, to };
  }
  const end = lines.at(-1)?.from ?? 0;
  return world.length === end ? undefined : { name: 'the end', from: end, to: world.length };
}

/** Whether a text of parts is unchanged. */
export function isWhole(text: string): boolean {
  const last = text.lastIndexOf('sha256 ');
  return text.slice(last) === `sha256 ${sha256(Buffer.from(text.slice(0, last)))}\n`;
}

/** Enough to tell a change, few enough to be read. */
const DIGEST_LENGTH = 16;

function digestOf(world: Uint8Array, from: number, to: number): string {
  return sha256(world.subarray(from, to)).slice(0, DIGEST_LENGTH);
}

function readLine(line: string): { from: number; digest: string; name: string } {
  const [from, digest = '', ...name] = line.split(' ');
  return { from: Number(from), digest, name: name.join(' ') };
}
