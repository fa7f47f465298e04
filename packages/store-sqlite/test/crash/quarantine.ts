/**
 * Which facts may be quarantined: those that two processes, one after the other, died of as far as anybody can know.
 *
 * Judged by what stood in the store when it was opened, not by the count that the kernel keeps in its notes: a note that
 * nobody wrote anew counts once, however often it is found.
 */
import type { JournalRecord } from '@reprise/contracts';

/** The state of a world at an opening. */
export interface Opening {
  /** The last frame there was. */
  readonly seq: number;
  /** Whether the last process had closed it. */
  readonly clean: boolean;
  /** The note that stood: how often, and of which fact. */
  readonly mark: string | null;
}

/** A fact that was journaled without its cascade. */
export interface Quarantined {
  readonly seq: number;
  /** Its name in a note. */
  readonly fact: string;
}

/** The number of deaths in a row that quarantine an input. */
const DEATHS = 2;

/** The quarantined facts for which there is no such excuse. */
export function wronglyQuarantined(openings: readonly Opening[], quarantined: readonly Quarantined[]): Quarantined[] {
  return quarantined.filter(
    ({ seq, fact }) => deathsOver(fact, openings.slice(0, openingOf(seq, openings) + 1)) < DEATHS,
  );
}

/** The opening whose process wrote a frame. */
function openingOf(seq: number, openings: readonly Opening[]): number {
  return openings.findLastIndex((opening) => opening.seq < seq);
}

/** The number of processes in a row that died after they had noted this input, up to the last opening. */
function deathsOver(fact: string, openings: readonly Opening[]): number {
  let deaths = 0;
  let before: string | null = null;
  for (const { clean, mark } of openings) {
    if (clean || mark?.replace(/^\d+ /, '') !== fact) deaths = 0;
    else if (mark !== before) deaths++;
    before = mark;
  }
  return deaths;
}

/** The quarantined facts of a frame. */
export function quarantinedOf(seq: number, records: readonly JournalRecord[]): Quarantined[] {
  return records.filter((record) => 'quarantined' in record).map((record) => ({ seq, fact: factOf(record) }));
}

/** The name by which a fact is noted. */
function factOf(record: JournalRecord): string {
  switch (record.kind) {
    case 'receipt':
      return `receipt ${record.effect}`;
    case 'timer':
      return `timer ${record.cell.join('/')} ${record.plan ?? ''} ${record.name} ${record.due}`;
    default:
      return record.kind;
  }
}
