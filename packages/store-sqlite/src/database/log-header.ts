/** Whether the file beside a database is a write-ahead log of SQLite at all. */
import { closeSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 32;
const MAGIC = 0x377f0682;

/**
 * Whether the header of the log beside a file is whole. SQLite takes a log with another header for an empty one: it
 * would show the state before the log, and then write over it.
 */
export function hasLog(path: string): boolean {
  const header = headerAt(`${path}-wal`);
  if (header === undefined) return false;
  const isBigEndian = header.readUInt32BE(0) === MAGIC + 1;
  if (!isBigEndian && header.readUInt32BE(0) !== MAGIC) return false;
  const word = (at: number): number => (isBigEndian ? header.readUInt32BE(at) : header.readUInt32LE(at));
  let [first, second] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    first = (first + word(at) + second) >>> 0;
    second = (second + word(at + 4) + first) >>> 0;
  }
  return first === header.readUInt32BE(24) && second === header.readUInt32BE(28);
}

function headerAt(path: string): Buffer | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return readSync(file, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? header : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
