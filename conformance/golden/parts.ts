/**
 * The parts of a world's bytes in order: the rows of its frames, their records, its blobs. Stored beside a golden
 * world, they name the part in which a byte differs, also when nothing can be decoded any more.
 *
 * As text: a line for each part, `<first byte> <digest> <name>`, and last the digest of these lines.
 */
import type { Value } from '@reprise/contracts';
import { decode, encode, equalBytes, readFrame } from '@reprise/kernel';
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
    if (!equalBytes(world.subarray(at, at + frame.bytes.length), frame.bytes))
      throw new Error(`frame ${seq} is elsewhere`);
    for (const { name, bytes } of piecesOf(frame.bytes, seq)) upTo(at + bytes, `frame ${seq}, ${name}`);
  }
  upTo(world.length, 'the envelope of the file');
  return parts;
}

/** What a frame consists of, in the order of its bytes: the heads of lists belong to what comes after them. */
function piecesOf(frame: Uint8Array, seq: number): { readonly name: string; readonly bytes: number }[] {
  const { all } = readFrame(frame, seq);
  const pieces: { name: string; bytes: number }[] = [];
  let at = 0;
  const upTo = (end: number, name: string) => {
    pieces.push({ name, bytes: end - at });
    at = end;
  };
  const list = headAt(frame, headAt(frame, 0).next);
  upTo(endOf(frame, list.next), `record 0 (${all[0]?.kind})`);
  upTo(endOf(frame, at), 'its armed effects');
  const derived = headAt(frame, at);
  for (let i = 1, end = derived.next; i <= derived.argument; i++) {
    end = endOf(frame, end);
    upTo(end, `record ${i} (${all[i]?.kind})`);
  }
  upTo(frame.length, `record ${all.length - 1} (state)`);
  return pieces;
}

/** The head of an item (RFC 8949 §3): its major type, its argument, and where its content begins. */
function headAt(bytes: Uint8Array, at: number): { major: number; argument: number; next: number } {
  const first = bytes[at] ?? 0;
  const width = (first & 31) < 24 ? 0 : 1 << ((first & 31) - 24);
  let argument = width === 0 ? first & 31 : 0;
  for (let i = 1; i <= width; i++) argument = argument * 256 + (bytes[at + i] ?? 0);
  return { major: first >> 5, argument, next: at + 1 + width };
}

function endOf(bytes: Uint8Array, start: number): number {
  const { major, argument, next } = headAt(bytes, start);
  if (major === 2 || major === 3) return next + argument;
  const items = major === 4 ? argument : major === 5 ? 2 * argument : major === 6 ? 1 : 0;
  let at = next;
  for (let i = 0; i < items; i++) at = endOf(bytes, at);
  return at;
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
