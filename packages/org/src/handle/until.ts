/** Waits for the end of what an organization does. */
import { type Duration, durationMs } from '@reprise/agent';
import { type JournalRecord, requireFields } from '@reprise/contracts';
import type { AwaitedCell, World } from '@reprise/kernel';
import { clockOf } from '@reprise/kernel/world';
import { closedWorld, type OrgCell } from './command.js';
import { isFactOf } from './reader.js';

/** What is awaited of a cell, and how long. */
interface Awaited<R> {
  /** Looks at the cell. @returns undefined while it goes on */
  readonly look: () => Promise<R | undefined>;
  /** The fact behind which it is looked again. */
  readonly after: string;
  /** What the cell waits for itself: a wait in a tool of one of these cells would never end, and is refused. */
  readonly waitsFor: NonNullable<AwaitedCell['waitsFor']>;
  /** Ends the wait by the clock of the world; without end when absent. A wait with an end may be that of any tool. */
  readonly within?: Duration | undefined;
}

/**
 * Waits until a cell has come to what is awaited.
 *
 * @returns what was found; undefined when the time is over
 * @throws RepriseError `invalid_argument` for an invalid duration; `cell_failed`; what closed the world; `waits_for_itself` in
 *   a tool of what the cell waits for
 */
export async function until<R>(cell: WaitedCell, awaited: Awaited<R> & { readonly within?: undefined }): Promise<R>;
export async function until<R>(cell: WaitedCell, awaited: Awaited<R>): Promise<R | undefined>;
export async function until<R>(cell: WaitedCell, awaited: Awaited<R>): Promise<R | undefined> {
  requireFields(cell, 'until(cell)', 'an OrgCell');
  requireFields(awaited, 'until(awaited)', 'an object with look, after and waitsFor');
  const { within } = awaited;
  if (within === undefined) return found(cell, awaited, undefined);
  const limit = new AbortController();
  const left = new AbortController();
  void ring(cell.world, durationMs(within, 'within'), left.signal).then(() => limit.abort());
  try {
    return await found(cell, awaited, limit.signal);
  } finally {
    left.abort();
  }
}

type WaitedCell = Pick<OrgCell, 'world' | 'address'>;

async function found<R>(
  { world, address }: WaitedCell,
  { look, after, waitsFor }: Awaited<R>,
  limit: AbortSignal | undefined,
): Promise<R | undefined> {
  const awaited = limit === undefined ? { cell: address, waitsFor } : address;
  for (;;) {
    const { seq } = world.head;
    const now = await look();
    if (now !== undefined) return now;
    const isChange = (record: JournalRecord) => isFactOf(record, address) && record.name === after;
    const changed = await hasOne(world.frames(seq + 1, limit, [awaited]), isChange);
    if (limit?.aborted) return undefined;
    if (!changed) throw closedWorld(world, address);
  }
}

/** Whether one of the frames has such a record: it is waited for. */
async function hasOne(frames: ReturnType<World['frames']>, fits: (record: JournalRecord) => boolean): Promise<boolean> {
  for await (const { records } of frames) if (records.some(fits)) return true;
  return false;
}

/** Resolves when so many milliseconds have passed, or the signal aborts. A clock may wake early. */
async function ring(world: World, ms: number, signal: AbortSignal): Promise<void> {
  const clock = clockOf(world);
  const due = clock.monotonic() + ms;
  while (!signal.aborted && clock.monotonic() < due) await clock.sleep(due - clock.monotonic(), signal);
}
