/**
 * Compares frames as a principal may read them with the whole journal, by looking for the one cell that is hidden in
 * the text of each record. It shares no code with the kernel and never forgets whose an effect was.
 */
import type { JournalRecord } from '@reprise/contracts';

type Frame = readonly JournalRecord[];
type Leaf = Extract<JournalRecord, { kind: 'state' }>['leaves'][number];

/** A frame as it was shown. */
export interface Shown {
  readonly seq: number;
  readonly records: readonly (JournalRecord | null)[];
  readonly withheld: { readonly records: number; readonly leaves: number };
}

/** What authors say to each other is in these, and not looked at. */
const AUTHORS: readonly string[] = ['value', 'input', 'params', 'question', 'payload'];

/**
 * Judges the frames that were shown to a principal who may read everything but one cell of the lab.
 *
 * @param from the first frame that was asked for
 * @returns how many records were withheld
 * @throws Error when something is shown that tells of the cell, or something is withheld that does not
 */
export function judgeShown(journal: readonly Frame[], shown: readonly Shown[], key: string, from = 0): number {
  const judge = new Judge(journal.flat(), key);
  const bySeq = new Map(shown.map((frame) => [frame.seq, frame]));
  let withheld = 0;
  for (const [seq, frame] of journal.entries()) {
    const seen = bySeq.get(seq)?.records ?? frame.map(() => null);
    must(seq >= from || !bySeq.has(seq), `frame ${seq} was not asked for`);
    if (seq < from) continue;
    must(seen.length === frame.length, `frame ${seq} has another length`);
    for (const [i, record] of frame.entries()) judge.record(record, seen[i] ?? null, `frame ${seq}, record ${i}`);
    withheld += seen.filter((record) => record === null).length;
    const left = frame.flatMap((record, i) => (seen[i] ? leavesOf(record) : [])).length;
    const is = seen.flatMap((record) => (record === null ? [] : leavesOf(record))).length;
    const said = bySeq.get(seq)?.withheld ?? { records: frame.length, leaves: 0 };
    must(said.leaves === left - is, `frame ${seq}: ${said.leaves} leaves said to be withheld, and ${left - is} are`);
    must(said.records === seen.filter((record) => record === null).length, `frame ${seq}: the count of records`);
  }
  return withheld;
}

class Judge {
  readonly #effects: ReadonlySet<string>;
  readonly #names: readonly string[];

  constructor(records: readonly JournalRecord[], key: string) {
    const address = `lab/Cell@1/${key}`;
    this.#names = [`"lab/Cell@1","${key}"`, `"cell:${address}"`, `"${address}#`];
    const isOf = (record: JournalRecord) =>
      (record.kind === 'effect' && record.plan[1] === key) ||
      (record.kind === 'denial' && record.who === `cell:${address}`);
    this.#effects = new Set(
      records.filter(isOf).flatMap((record) => ('effect' in record ? [String(record.effect)] : [])),
    );
  }

  record(record: JournalRecord, seen: JournalRecord | null, where: string): void {
    if (record.kind === 'state') return this.#leaves(record.leaves, seen, where);
    const tells = this.#tells(record);
    must(seen !== null || tells || isForgotten(record), `${where} is withheld: ${JSON.stringify(record)}`);
    if (seen === null) return;
    must(!tells, `${where} is shown: ${JSON.stringify(record)}`);
    must(JSON.stringify(seen) === JSON.stringify(record), `${where} was changed`);
  }

  #leaves(leaves: readonly Leaf[], seen: JournalRecord | null, where: string): void {
    const shown = new Set((seen === null ? [] : leavesOf(seen)).map((leaf) => JSON.stringify(leaf)));
    for (const leaf of leaves) {
      const tells = this.#tells(pathText(leaf));
      const forgotten = leaf[0][0] === 'settled';
      must(!(shown.has(JSON.stringify(leaf)) && tells), `${where}: a leaf ${String(leaf[0][0])} is shown`);
      must(shown.has(JSON.stringify(leaf)) || tells || forgotten, `${where}: a leaf ${String(leaf[0][0])} is withheld`);
    }
  }

  #tells(thing: unknown): boolean {
    const text = JSON.stringify(thing, withoutAuthors);
    return this.#names.some((name) => text.includes(name)) || [...this.#effects].some((id) => text.includes(id));
  }
}

/** What is told under a name of the kernel's own is the kernel's. */
function withoutAuthors(this: { readonly name?: unknown }, field: string, value: unknown): unknown {
  return AUTHORS.includes(field) && !isCommand(value) && !String(this.name).startsWith('sys/') ? null : value;
}

/** A path as an address: what stands between the reducer and the key is left out. */
function pathText([path]: Leaf): readonly unknown[] {
  const at = path.indexOf('lab/Cell@1');
  return at < 0 ? path : [path[at], path.at(-1)];
}

/** The value of a command is the kernel's: whose right it sets, which effect it is about. */
function isCommand(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('holder' in value || 'effect' in value || 'account' in value);
}

/** What is said of an effect that the ledger forgot, or never had (in a fork that is fed), which only the host is shown. */
function isForgotten(record: JournalRecord): boolean {
  if (record.kind === 'late') return true;
  return (record.kind === 'command' || record.kind === 'cell_command') && record.command.name === 'sys/Settle@1';
}

function leavesOf(record: JournalRecord): readonly Leaf[] {
  return record.kind === 'state' ? record.leaves : [];
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
