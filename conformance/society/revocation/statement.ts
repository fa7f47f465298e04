/** What the frames after a taking back say, told from the journal alone. */
import type { JournalRecord } from '@reprise/contracts';
import type { Office } from './office.js';

/** Ingress that nobody outside caused: what the frames of one cascade may have between them. */
const NO_INPUT: readonly string[] = ['continue', 'manifest', 'snapshot', 'clock'];

/** What was found. */
export interface Statement {
  /** Effects that were open before, and ended because the rights were taken. */
  readonly ended: number;
  /** The frames in which they ended. */
  readonly frames: number;
  /** Inputs between the first and the last of these frames, by kind. */
  readonly between: readonly string[];
  /** The frames of the first and the last end. */
  readonly first: number;
  readonly last: number;
  /** Effects that were open before and did not end for that reason. */
  readonly left: number;
  /** Items that are still pending. */
  readonly open: number;
  /** Frames of the journal that a verification did not replay. */
  readonly unverified: number;
}

/** Reads what the frames after a frame say. */
export async function statementOf(world: Office['world'], before: number): Promise<Statement> {
  const hung = await openTools(world, before);
  const ends: number[] = [];
  const kinds = new Map<number, string>();
  for await (const { seq, records } of world.kernel.frames(before + 1)) {
    kinds.set(seq, records[0]?.kind ?? '-');
    for (const record of records) if (isTaken(record, hung)) ends.push(seq);
    if (seq === world.kernel.head.seq) break;
  }
  const [first, last] = [ends[0] ?? Number.POSITIVE_INFINITY, ends.at(-1) ?? 0];
  const within = [...kinds].filter(([seq]) => seq > first && seq <= last).map(([, kind]) => kind);
  const { frames, replayed } = await world.verify();
  return {
    ended: ends.length,
    frames: new Set(ends).size,
    between: within.filter((kind) => !NO_INPUT.includes(kind)),
    first,
    last,
    left: hung.size - ends.length,
    open: (await world.kernel.pending()).length,
    unverified: frames - replayed,
  };
}

function isTaken(record: JournalRecord, hung: ReadonlySet<string>): boolean {
  return record.kind === 'settled' && hung.has(record.effect) && record.code?.startsWith('cap_denied') === true;
}

/** The effects of tools that were open at a frame. */
async function openTools(world: Office['world'], upTo: number): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  for await (const { seq, records } of world.kernel.frames(1)) {
    for (const record of records) {
      if (record.kind === 'effect' && record.name.startsWith('tool.')) open.add(record.effect);
      if (record.kind === 'settled') open.delete(record.effect);
    }
    if (seq === upTo) break;
  }
  return open;
}

/** The frame of the request for a call; undefined when no frame has it. */
export async function frameOfCall(world: Office['world'], call_id: string): Promise<number | undefined> {
  for await (const { seq, records } of world.kernel.frames(1)) {
    const [ingress] = records;
    const value = ingress?.kind === 'request' ? (ingress.event.value as { readonly call_id?: string }) : undefined;
    if (value?.call_id === call_id) return seq;
    if (seq === world.kernel.head.seq) break;
  }
  return undefined;
}
