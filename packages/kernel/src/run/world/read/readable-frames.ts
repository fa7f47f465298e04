/**
 * The frames of a world, reduced to what one principal may read.
 *
 * Invariants
 * V1  A record is shown when its reader may read every cell it concerns, by the rights at the time when the frame is
 *     handed out; each leaf of a state record is judged by itself. Shown records are unchanged.
 * V2  A withheld record is counted and leaves its place empty, so `c` of the others keeps its meaning. A frame without
 *     any readable record is left out: its number is missing.
 * V3  A principal that may read a cell because it is kin sees only the records of the cell's last generation. A frame in
 *     which a cell is made anew concerns both generations, and is shown to the kin of neither.
 */
import type { JournalRecord, Principal, StateRecord } from '@reprise/contracts';
import { cellAddress } from '../../../pure/define/index.js';
import { concernedCells, type ReadVerdict, type Subject, subjectOfLeaf } from '../../../pure/engine/index.js';
import { effectLeaves } from '../ask/effect-leaves.js';
import { type Owner, Owners } from './owners.js';
import { ReadRights } from './read-rights.js';
import type { ReadingParts, WorldFrame } from './reading.js';

/** A durable frame, reduced to what a principal may read. */
export interface ReadableFrame extends Omit<WorldFrame, 'records'> {
  /** Its records, each in its place; null for a withheld one. The state record may lack some leaves. */
  readonly records: readonly (JournalRecord | null)[];
  /** The number of withheld records, and of withheld leaves in a shown state record. */
  readonly withheld: { readonly records: number; readonly leaves: number };
}

/** Says whether a subject may be read. */
type Readable = (subject: Subject) => boolean;

/** The frames of a world as one reader may read them, future ones included. */
export async function* readableFrames(
  parts: ReadingParts,
  who: Principal,
  frames: AsyncIterable<WorldFrame>,
  options: { readonly from: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<ReadableFrame> {
  const reader = who === 'operator' ? OPERATOR : await FrameReader.begin(parts, who, options.from);
  for await (const frame of frames) {
    const shown = await reader.show(frame);
    if (shown !== undefined) yield shown;
    else if (options.signal?.aborted) return; // nothing else checks it during a long unreadable stretch
  }
}

const OPERATOR = { show: async (frame: WorldFrame) => shownAs(frame, () => true) };

class FrameReader {
  readonly #rights: ReadRights;

  private constructor(
    private readonly parts: ReadingParts,
    who: Principal,
    private readonly owners: Owners,
  ) {
    this.#rights = new ReadRights(parts.table, who);
  }

  static async begin(parts: ReadingParts, who: Principal, from: number): Promise<FrameReader> {
    const open = await parts.stepper.exclusively(async () => effectLeaves(parts.table));
    return new FrameReader(parts, who, new Owners(parts.store, from, open));
  }

  async show(frame: WorldFrame): Promise<ReadableFrame | undefined> {
    this.owners.enter(frame.records);
    const readable = await this.#readable(frame.records);
    this.owners.leave(frame.records);
    return shownAs(frame, readable);
  }

  /** Decides which subjects of a frame may be read: the gate is asked once for each cell. */
  async #readable(records: readonly JournalRecord[]): Promise<Readable> {
    const told = await this.#owners(records);
    const verdicts = await this.#verdicts([...told.values()]);
    const readable = new Set<string>();
    for (const [subject, owner] of told) {
      const verdict = verdicts.get(idOf(owner));
      if (verdict?.allow === true && (await this.#isOf(verdict.inc, owner))) readable.add(subject);
    }
    return (subject) => readable.has(nameOf(subject));
  }

  /** The cells that a frame concerns; the owner of an effect is unknown once the ledger has forgotten it. */
  async #owners(records: readonly JournalRecord[]): Promise<Map<string, Owner | null>> {
    const told = new Map<string, Owner | null>();
    for (const subject of records.flatMap(subjectsOf)) {
      if (told.has(nameOf(subject))) continue;
      const owner = await this.#ownerOf(subject);
      if (owner !== undefined) told.set(nameOf(subject), owner);
    }
    return told;
  }

  /** By its permanent name: a rule about a cell holds under every name of it. */
  async #ownerOf(subject: Subject): Promise<Owner | null | undefined> {
    if (subject === 'world') return null;
    const { cell, inc } =
      'cell' in subject ? { ...subject, inc: undefined } : ((await this.owners.ownerOf(subject.effect)) ?? {});
    return cell && { cell: cellAddress(this.parts.app, cell), inc };
  }

  #verdicts(owners: readonly (Owner | null)[]): Promise<Map<string, ReadVerdict>> {
    const { stepper, stamper } = this.parts;
    return stepper.exclusively(async () => {
      const at = stamper.now();
      const verdicts = new Map<string, ReadVerdict>();
      for (const owner of owners) {
        const id = idOf(owner);
        if (!verdicts.has(id)) verdicts.set(id, await this.#rights.verdictOn(owner?.cell ?? null, at));
      }
      return verdicts;
    });
  }

  // V3
  async #isOf(inc: number | null, owner: Owner | null): Promise<boolean> {
    if (inc === null || owner === null) return true;
    const was = owner.inc ?? (inc === 0 ? 0 : await this.owners.generationOf(owner.cell));
    return was === inc;
  }
}

// V1, V2
function shownAs({ seq, at, head, records: all }: WorldFrame, readable: Readable): ReadableFrame | undefined {
  let leaves = 0;
  let shown = 0;
  const records = all.map((record): JournalRecord | null => {
    if (record.kind !== 'state') {
      const isShown = concernedCells(record).every(readable);
      if (isShown) shown++;
      return isShown ? record : null;
    }
    const state = shownState(record, readable, shown > 0);
    leaves = state === null ? 0 : record.leaves.length - state.leaves.length;
    return state;
  });
  const withheld = records.filter((record) => record === null).length;
  return withheld === records.length ? undefined : { seq, at, head, records, withheld: { records: withheld, leaves } };
}

/** A state record without leaves says nothing: it is the world's, and is shown with whatever else is shown of its frame. */
function shownState(record: StateRecord, readable: Readable, isFrameShown: boolean): StateRecord | null {
  if (record.leaves.length === 0) return isFrameShown || readable('world') ? record : null;
  const leaves = record.leaves.filter(([path]) => readable(subjectOfLeaf(path)));
  return leaves.length === 0 ? null : { kind: 'state', leaves };
}

function subjectsOf(record: JournalRecord): readonly Subject[] {
  if (record.kind !== 'state') return concernedCells(record);
  return record.leaves.length === 0 ? ['world'] : record.leaves.map(([path]) => subjectOfLeaf(path));
}

function nameOf(subject: Subject): string {
  if (subject === 'world') return '';
  return 'cell' in subject ? subject.cell.join('\0') : subject.effect;
}

function idOf(owner: Pick<Owner, 'cell'> | null): string {
  return owner === null ? '' : owner.cell.join('\0');
}
