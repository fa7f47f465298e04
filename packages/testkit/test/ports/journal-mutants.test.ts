import { isRepriseError } from '@reprise/contracts';
import type { Head, Journal, OpenStore, StoredFrame } from '@reprise/kernel';
import { journalChecks } from '@reprise/testkit/ports';
import { openMutant, type Patch, testMutants } from './mutants.js';

type Append = Journal['append'];
type Read = Journal['read'];

const appending =
  (body: (open: OpenStore, ...call: Parameters<Append>) => Promise<Head>) =>
  (open: OpenStore): Patch => ({
    journal: { append: (frames, expected) => body(open, frames, expected) },
  });

const reading =
  (body: (open: OpenStore, ...call: Parameters<Read>) => AsyncIterable<StoredFrame>) =>
  (open: OpenStore): Patch => ({
    journal: { read: (from, to) => body(open, from, to) },
  });

/** Changes every frame on its way to the reader. */
const readingAs = (change: (frame: StoredFrame) => StoredFrame) =>
  reading(async function* ({ journal }, from, to) {
    for await (const frame of journal.read(from, to)) yield change(frame);
  });

const STALE = 'given a head that is not the durable one, an append is stale and writes nothing';
const ORDER = 'given frames that do not follow each other, an append is refused and writes nothing';
const ROUND_TRIP = 'given frames were appended, they are read back in order, byte for byte';
const RANGE = 'given a range, reading begins at from and ends with to';
const KEYS = 'given keys, each finds the frame that was appended under it, and no other finds one';
const KIND = 'given a kind, the newest frame of it at or before a number is found';

testMutants('journal', journalChecks, [
  openMutant(
    'has a head before anything was appended',
    'given nothing was appended, the head is the empty one and there is no frame',
    ({ journal }) => ({
      journal: { head: async () => ({ ...(await journal.head()), seq: Math.max(0, (await journal.head()).seq) }) },
    }),
  ),
  openMutant(
    'reads out of order',
    ROUND_TRIP,
    reading(async function* ({ journal }, from, to) {
      let held: StoredFrame | undefined;
      for await (const frame of journal.read(from, to)) {
        if (held === undefined) held = frame;
        else {
          yield frame;
          yield held;
          held = undefined;
        }
      }
      if (held !== undefined) yield held;
    }),
  ),
  openMutant(
    'skips a frame it cannot read',
    ROUND_TRIP,
    reading(async function* ({ journal }, from, to) {
      for await (const frame of journal.read(from, to)) if (frame.seq !== 7) yield frame;
    }),
  ),
  openMutant(
    'mixes up the heads',
    ROUND_TRIP,
    readingAs((frame) => ({ ...frame, head: frame.head.toUpperCase() })),
  ),
  openMutant(
    'resolves to the head it was given',
    'given an append, it resolves to the head it made',
    appending(async ({ journal }, frames, expected) => {
      await journal.append(frames, expected);
      return expected;
    }),
  ),
  openMutant(
    'accepts a stale head',
    STALE,
    appending(async ({ journal }, frames, expected) => {
      try {
        return await journal.append(frames, expected);
      } catch (error) {
        if (isRepriseError(error, 'stale_head')) return journal.head();
        throw error;
      }
    }),
  ),
  openMutant(
    'compares only the number of the head',
    STALE,
    appending(async ({ journal }, frames, expected) => {
      const head = await journal.head();
      return journal.append(frames, expected.seq === head.seq ? head : expected);
    }),
  ),
  openMutant(
    'refuses a stale head after it has written',
    STALE,
    appending(async ({ journal }, frames, expected) => {
      const head = await journal.head();
      if (head.seq !== expected.seq)
        await journal.append(
          frames.map((frame, i) => ({ ...frame, seq: head.seq + 1 + i })),
          head,
        );
      return journal.append(frames, expected);
    }),
  ),
  openMutant(
    'writes half of a refused append',
    ORDER,
    appending(async ({ journal }, frames, expected) => {
      const gap = frames.findIndex((frame, i) => frame.seq !== expected.seq + 1 + i);
      if (gap > 0) await journal.append(frames.slice(0, gap), expected);
      return journal.append(frames, expected);
    }),
  ),
  openMutant(
    'renumbers frames instead of refusing them',
    ORDER,
    appending(async ({ journal }, frames, expected) =>
      journal.append(
        frames.map((frame, i) => ({ ...frame, seq: expected.seq + 1 + i })),
        expected,
      ),
    ),
  ),
  openMutant(
    'does not look at the head of an empty append',
    'given no frames, an append checks the head and writes none',
    appending(async ({ journal }, frames, expected) =>
      frames.length === 0 ? expected : journal.append(frames, expected),
    ),
  ),
  openMutant(
    'leaves out the last frame of a range',
    RANGE,
    reading(({ journal }, from, to) => journal.read(from, to === undefined ? to : to - 1)),
  ),
  openMutant(
    'begins a range at the frame after',
    RANGE,
    reading(({ journal }, from, to) => journal.read(from === 0 ? 0 : from + 1, to)),
  ),
  openMutant(
    'begins a range at the group it is in',
    RANGE,
    reading(({ journal }, from, to) => journal.read(Math.min(from, 7), to)),
  ),
  openMutant(
    'repeats a page when the journal has grown meanwhile',
    'given an append while a reader stands between two frames, the reader goes on in order',
    reading(async function* ({ journal }, from, to) {
      const before = await journal.head();
      for await (const frame of journal.read(from, to)) {
        yield frame;
        if (frame.seq === before.seq && (await journal.head()).seq !== before.seq) yield frame;
      }
    }),
  ),
  openMutant(
    'ends at what was the head of the group where it began',
    'given an append while a reader stands between two frames, the reader goes on in order',
    reading(({ journal }, from, to) => journal.read(from, Math.min(to ?? 40, 40))),
  ),
  openMutant(
    'cuts a frame at 64 KiB',
    'given many frames of all sizes, none is lost or changed',
    readingAs((frame) => ({ ...frame, bytes: frame.bytes.slice(0, 65_536) })),
  ),
  openMutant(
    'keeps the time in 51 bits',
    'given columns at their limits, they come back as they were',
    readingAs((frame) => ({ ...frame, at: frame.at % 2 ** 51 })),
  ),
  openMutant(
    'keeps the kind in ASCII',
    'given columns at their limits, they come back as they were',
    readingAs((frame) => ({ ...frame, kind: frame.kind.replace(/[^ -~]/gu, '?') })),
  ),
  openMutant('finds the newest frame of a kind, however late', KIND, ({ journal }) => ({
    journal: { findLast: (kind) => journal.findLast(kind, Number.MAX_SAFE_INTEGER) },
  })),
  openMutant('finds the newest frame of a kind before a number, not at it', KIND, ({ journal }) => ({
    journal: { findLast: (kind, seq) => journal.findLast(kind, seq - 1) },
  })),
  openMutant('finds no key', KEYS, () => ({ journal: { findKey: async () => undefined } })),
  openMutant('finds keys of frames that were refused', KEYS, ({ journal }) => {
    const keys = new Map<string, number>();
    return {
      journal: {
        append: (frames, expected) => {
          for (const { key, seq } of frames) if (key !== undefined) keys.set(key, seq);
          return journal.append(frames, expected);
        },
        findKey: async (key) => keys.get(key),
      },
    };
  }),
  openMutant(
    'keeps the bytes of the caller',
    'given bytes that the caller changes after the append, the stored ones stay',
    ({ journal }) => {
      const given = new Map<number, Uint8Array>();
      return {
        journal: {
          append: async (frames, expected) => {
            for (const frame of frames) given.set(frame.seq, frame.bytes);
            return journal.append(frames, expected);
          },
          read: async function* (from, to) {
            for await (const frame of journal.read(from, to))
              yield { ...frame, bytes: given.get(frame.seq) ?? frame.bytes };
          },
        },
      };
    },
  ),
  openMutant(
    'gives its own bytes to readers',
    'given bytes that a reader changes, the next reader gets the stored ones',
    ({ journal }) => {
      const cache = new Map<number, StoredFrame>();
      return {
        journal: {
          read: async function* (from, to) {
            for await (const frame of journal.read(from, to)) {
              const cached = cache.get(frame.seq) ?? frame;
              cache.set(frame.seq, cached);
              yield cached;
            }
          },
        },
      };
    },
  ),
]);
