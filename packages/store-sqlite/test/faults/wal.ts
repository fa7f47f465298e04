/**
 * The write-ahead log of a SQLite file as its bytes: where its last whole commit ends, and what torn writes make of
 * the rest. The layout is the one that SQLite documents: a header of 32 bytes, then frames of 24 bytes and a page, each
 * with two salts of the header and a running checksum; a frame that ends a commit names the size of the database.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

const HEADER = 32;
const FRAME_HEADER = 24;

/** The last bit of the magic number says in which order of bytes checksums are made. */
const BIG_ENDIAN = 1;

type Sums = readonly [number, number];

/** The offset of the end of the last whole commit; 0 without a commit. */
export function committedEnd(wal: string): number {
  if (!existsSync(wal)) return 0;
  const bytes = readFileSync(wal);
  if (bytes.length < HEADER) return 0;
  const log = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = (log.getUint32(0) & BIG_ENDIAN) === 0;
  const frame = FRAME_HEADER + log.getUint32(8);
  let sums = checksum(log, 0, 24, little, [0, 0]);
  let end = 0;
  for (let at = HEADER; at + frame <= bytes.length; at += frame) {
    if (log.getUint32(at + 8) !== log.getUint32(16) || log.getUint32(at + 12) !== log.getUint32(20)) break;
    sums = checksum(log, at, 8, little, sums);
    sums = checksum(log, at + FRAME_HEADER, frame - FRAME_HEADER, little, sums);
    if (sums[0] !== log.getUint32(at + 16) || sums[1] !== log.getUint32(at + 20)) break;
    if (log.getUint32(at + 4) !== 0) end = at + frame;
  }
  return end;
}

function checksum(log: DataView, from: number, length: number, little: boolean, [first, second]: Sums): Sums {
  let [a, b] = [first, second];
  for (let at = from; at < from + length; at += 8) {
    a = (a + log.getUint32(at, little) + b) >>> 0;
    b = (b + log.getUint32(at + 4, little) + a) >>> 0;
  }
  return [a, b];
}

/**
 * How writes that were never synced may look after a loss of power: cut off somewhere, noise from somewhere on, some
 * sectors written and some not, nothing of them there.
 */
export const TEARS = ['cut', 'garbage', 'holes', 'gone'] as const;

/** One of {@link TEARS}. */
export type Tear = (typeof TEARS)[number];

/** What disks write whole. */
const SECTOR = 512;

/**
 * Leaves of a file what was synced, and of what is behind it only what chance lets stand.
 *
 * @param synced how many bytes are promised
 * @param random chance, from 0 to 1
 * @returns how many bytes were not promised
 */
export function tear(file: string, synced: number, how: Tear, random: () => number): number {
  const bytes = existsSync(file) ? readFileSync(file) : new Uint8Array();
  const open = bytes.length - synced;
  if (open <= 0) return 0;
  const handle = openSync(file, 'r+');
  try {
    const from = synced + Math.floor(random() * open);
    if (how === 'cut') ftruncateSync(handle, from);
    else if (how === 'gone') ftruncateSync(handle, synced);
    else if (how === 'garbage') writeSync(handle, noise(bytes.length - from, random), 0, bytes.length - from, from);
    else punch(handle, synced, bytes.length, random);
  } finally {
    closeSync(handle);
  }
  return open;
}

/** Some sectors were written and some were not. */
function punch(handle: number, from: number, to: number, random: () => number): void {
  for (let at = from; at < to; at += SECTOR) {
    if (random() < 0.3) writeSync(handle, new Uint8Array(Math.min(SECTOR, to - at)), 0, Math.min(SECTOR, to - at), at);
  }
}

function noise(length: number, random: () => number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}
