import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Tool } from '@reprise/agent';
import { defineTool, looksBinary, utf16Of } from '@reprise/agent';
import * as z from 'zod';
import type { WorkspaceContext } from '../folder/context.js';
import { refusing } from '../folder/refusing.js';
import { SNIFF_BYTES, showPath, textOf } from '../folder/text.js';
import { brokenEnd, brokenStart, CHARACTER_BYTES_MAX, characterLength } from '../folder/whole-characters.js';

/**
 * The most bytes that one call returns, heading excluded: below the 16 KiB that a model reads, so nothing is cut twice.
 */
const TEXT_BYTES_DEFAULT = 12 * 1024;
const TEXT_BYTES_MAX = 256 * 1024;
const LINES_DEFAULT = 400;
const LINES_MAX = 10_000;

/** How many bytes one call scans for a line, or digests of a binary file: a bound on time. */
const SCAN_BYTES_MAX = 64 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;

const args = z.strictObject({
  path: z.string().min(1).max(4096).describe('File, relative to the workspace.'),
  unit: z.enum(['lines', 'bytes']).default('lines').describe('What offset and limit count. Default lines.'),
  offset: z.int().min(0).default(0).describe('How many lines or bytes to skip. Default 0.'),
  limit: z
    .int()
    .min(1)
    .max(TEXT_BYTES_MAX)
    .optional()
    .describe(`How much to read. Default ${LINES_DEFAULT} lines or ${TEXT_BYTES_DEFAULT} bytes.`),
});

type Ask = z.output<typeof args>;

/**
 * Makes the tool `read_file`: a part of a text file under a heading that says which part; a description of a binary
 * file.
 */
export function readFile(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'read_file',
    description:
      'Reads a text file of the workspace. The first line says which part of the file follows and how to continue. A binary file is described by size and sha256 instead. Bytes that are not UTF-8 are shown as U+FFFD.',
    args,
    guarantee: 'idempotent',
    family: 'file',
    run: (ask, { signal }) => refusing(() => read(context, ask, signal)),
  });
}

async function read(context: WorkspaceContext, ask: Ask, signal: AbortSignal): Promise<string> {
  const { place, file, stats } = await context.confinement.open(ask.path);
  try {
    const name = `File ${showPath(place.shown)} (${stats.size} bytes`;
    const start = await readAt(file, 0, SNIFF_BYTES);
    if (looksBinary(start)) return `${name}; binary; ${await digest(file, stats.size, signal)})`;
    if (utf16Of(start) !== undefined) return await readUtf16(file, stats.size, name, ask, signal);
    const part = ask.unit === 'lines' ? await readLines(file, ask, signal) : await readBytes(file, ask, stats.size);
    return `${name}; ${part.what})\n${part.text}`;
  } finally {
    await file.close();
  }
}

/** The largest file in UTF-16 that is read, in bytes: it is converted as a whole. */
const UTF16_BYTES_MAX = 16 * 1024 * 1024;

/** Reads a file in UTF-16 as the same text in UTF-8; lines and bytes count there. */
async function readUtf16(file: FileHandle, size: number, name: string, ask: Ask, signal: AbortSignal): Promise<string> {
  if (size > UTF16_BYTES_MAX) return `${name}; UTF-16; above ${UTF16_BYTES_MAX} bytes, which is too large to convert)`;
  const text = new TextEncoder().encode(textOf(await readAt(file, 0, size)));
  const converted: Readable = {
    read: async (buffer, offset, length, at) => {
      const piece = text.subarray(at, at + length);
      buffer.set(piece, offset);
      return { bytesRead: piece.length };
    },
  };
  const part =
    ask.unit === 'lines' ? await readLines(converted, ask, signal) : await readBytes(converted, ask, text.length);
  return `${name}; UTF-16, shown as UTF-8; ${part.what})\n${part.text}`;
}

/** What bytes are read from. */
interface Readable {
  read(buffer: Uint8Array, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>;
}

interface Part {
  readonly what: string;
  readonly text: string;
}

/** Reads bytes; a character at either end is shown whole or not at all. */
async function readBytes(file: Readable, ask: Ask, size: number): Promise<Part> {
  const limit = Math.min(ask.limit ?? TEXT_BYTES_DEFAULT, TEXT_BYTES_MAX);
  const back = Math.min(ask.offset, CHARACTER_BYTES_MAX - 1);
  const before = await readAt(file, ask.offset - back, back);
  const read = await readAt(file, ask.offset, limit + CHARACTER_BYTES_MAX);
  const start = brokenStart(before, read);
  const bytes = read.subarray(start, Math.max(limit, start));
  const isLast = start + bytes.length === read.length;
  const broken = isLast ? 0 : brokenEnd(bytes);
  // A limit below the length of a character shows one all the same, so that reading goes on.
  const length = bytes.length > broken ? bytes.length - broken : characterLength(read.subarray(start));
  const [from, end] = [ask.offset + start, ask.offset + start + length];
  const rest = end < size ? `; go on with offset ${end}` : '; to the end';
  return { what: `bytes ${from} to ${end}${rest}`, text: decodeLenient(read.subarray(start, start + length)) };
}

async function readLines(file: Readable, ask: Ask, signal: AbortSignal): Promise<Part> {
  const start = await lineStart(file, ask.offset, signal);
  if (start === 'beyond') return { what: 'the file has no such line', text: '' };
  if (start === 'too_far') return { what: `scanned ${SCAN_BYTES_MAX} bytes; use unit bytes to go further`, text: '' };
  const bytesMax = ask.limit === undefined ? TEXT_BYTES_DEFAULT : TEXT_BYTES_MAX;
  const window = await readAt(file, start, bytesMax);
  const more = (await readAt(file, start + window.length, 1)).length > 0;
  const { lines, length } = wholeLines(window, Math.min(ask.limit ?? LINES_DEFAULT, LINES_MAX), more);
  const text = decodeLenient(window.subarray(0, length));
  if (lines === 0 && more) {
    const whole = window.subarray(0, length - brokenEnd(window.subarray(0, length)));
    const next = `go on with unit bytes, offset ${start + whole.length}`;
    return { what: `line ${ask.offset + 1}, cut; ${next}`, text: decodeLenient(whole) };
  }
  const range = lines === 0 ? 'no lines' : `lines ${ask.offset + 1} to ${ask.offset + lines}`;
  const atEnd = !more && length === window.length;
  return { what: `${range}; ${atEnd ? 'to the end' : `go on with offset ${ask.offset + lines}`}`, text };
}

/** How much of a window is complete lines, at most `wanted`; the last line of a file needs no line break. */
function wholeLines(window: Uint8Array, wanted: number, more: boolean): { lines: number; length: number } {
  let lines = 0;
  let length = 0;
  while (lines < wanted) {
    const newline = window.indexOf(10, length);
    if (newline < 0) break;
    lines += 1;
    length = newline + 1;
  }
  if (lines === wanted || length === window.length) return { lines, length };
  if (!more) return { lines: lines + 1, length: window.length };
  return lines > 0 ? { lines, length } : { lines: 0, length: window.length };
}

/** Where a line begins, counted from 0; reads in chunks, so memory stays bounded. */
async function lineStart(file: Readable, line: number, signal: AbortSignal): Promise<number | 'beyond' | 'too_far'> {
  let left = line;
  for (let at = 0; left > 0; ) {
    signal.throwIfAborted();
    if (at >= SCAN_BYTES_MAX) return 'too_far';
    const chunk = await readAt(file, at, CHUNK_BYTES);
    if (chunk.length === 0) return 'beyond';
    for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, newline + 1)) {
      left -= 1;
      if (left === 0) return at + newline + 1;
    }
    at += chunk.length;
  }
  return 0;
}

async function readAt(file: Readable, at: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

async function digest(file: FileHandle, size: number, signal: AbortSignal): Promise<string> {
  if (size > SCAN_BYTES_MAX) return 'too large to digest';
  const hash = createHash('sha256');
  for (let at = 0; at < SCAN_BYTES_MAX; ) {
    signal.throwIfAborted();
    const chunk = await readAt(file, at, CHUNK_BYTES);
    if (chunk.length === 0) break;
    hash.update(chunk);
    at += chunk.length;
  }
  return `sha256:${hash.digest('hex')}`;
}

function decodeLenient(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes).replaceAll('\0', '\ufffd');
}
