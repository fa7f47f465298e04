/**
 * Reads of a journal what happened to a tree: each event that its cell took, in order, with the answers, facts and launches
 * that followed from it. It trusts no table and no state of the cell.
 */
import { type Actor, actorOf, type JournalRecord, type Principal } from '@reprise/contracts';
import { treeFacts } from '@reprise/tree';
import { valueAs } from '../../staged-values.js';
import { Differs, type Row } from '../follow.js';
import { type Delivered, oneByOne, type StagedEvent } from '../stage.js';

const TREE = 'tree/Tree@1';

/** The timers of a tree that its own code set. */
const TIMER = /^(ask|program|after)\.\d+$/;

/** What the tree took. */
type Taken = Pick<Delivered, 'event' | 'sender' | 'actor'>;

/** The journal of one tree, frame by frame. */
export class TreeJournal {
  /** The nodes as the facts state them. */
  readonly rows = new Map<number, Row>();
  /** The launches, in their order. */
  readonly launched: string[] = [];
  spent = { tokens: 0, micro_money: 0 };
  reserved = 0;
  /** What all nodes together may use. */
  budget: number | null = null;
  hasEnded = false;
  /** Who answered each question that has an outcome; null when nobody did. */
  readonly answeredBy = new Map<number, Actor | null>();

  constructor(private readonly name: string) {}

  /** Takes the records of a frame. @returns what the tree took in it, in order */
  take(records: readonly JournalRecord[]): readonly Delivered[] {
    const found: Delivered[] = [];
    for (const [i, record] of records.entries()) {
      const event = i === 0 ? this.#entered(record) : this.#sent(record);
      if (event !== undefined) found.push(this.#followed(records, i, event));
    }
    return found;
  }

  /** What reaches the tree from outside. */
  #entered(record: JournalRecord): Taken | undefined {
    if (record.kind === 'request' && this.#isTree(record.to))
      return {
        event: record.event as StagedEvent,
        sender: null,
        actor: actorOf(record.principal as Principal, record.actor),
      };
    if (record.kind !== 'timer' || !this.#isTree(record.cell) || record.plan !== null || !TIMER.test(record.name))
      return;
    return {
      event: { name: 'sys/TimerFired@1', value: { name: record.name, due: record.due } },
      sender: null,
      actor: null,
    };
  }

  #sent(record: JournalRecord): Taken | undefined {
    if (record.kind === 'fault' && this.#isTree(record.target))
      throw new Differs(`the tree has failed: ${record.code}`);
    if (record.kind !== 'event' || !this.#isTree(record.to)) return undefined;
    return { event: record.event as StagedEvent, sender: record.from, actor: null };
  }

  /** What followed from the record with this number. */
  #followed(records: readonly JournalRecord[], c: number, taken: Taken): Delivered {
    const answers: StagedEvent[] = [];
    const facts: StagedEvent[] = [];
    let rejected: string | undefined;
    for (const record of records) {
      if (!('c' in record) || record.c !== c) continue;
      if (record.kind === 'event') answers.push(...oneByOne(record.event as StagedEvent, 'aos.agent/OwnerAnswer'));
      if (record.kind === 'intent' && record.name === 'tree/launch_plan@1') this.#launch(record.input);
      if (record.kind === 'fact' && record.from !== null && this.#isTree(record.from)) {
        facts.push(record as StagedEvent);
        this.#learn(record as StagedEvent);
      }
      rejected ??= rejectionIn(record);
    }
    return { ...taken, rejected, answers, facts };
  }

  #launch(input: unknown): void {
    const { n, launch } = input as { readonly n: number; readonly launch: number };
    this.launched.push(`${n}.${launch}`);
  }

  #learn(fact: StagedEvent): void {
    const changed = valueAs(fact, [treeFacts, 'tree/NodeChanged@1']);
    if (changed !== undefined) this.rows.set(changed.n, changed as Row);
    const launched = valueAs(fact, [treeFacts, 'tree/Launched@1']);
    const row = launched === undefined ? undefined : this.rows.get(launched.n);
    if (launched !== undefined && row !== undefined) this.rows.set(launched.n, { ...row, run: 'live' });
    const spending = valueAs(fact, [treeFacts, 'tree/Budget@1']);
    if (spending !== undefined) Object.assign(this, { spent: spending.spent, reserved: spending.reserved });
    this.budget = valueAs(fact, [treeFacts, 'tree/Started@1'])?.budget.tree ?? this.budget;
    const limited = valueAs(fact, [treeFacts, 'tree/Limited@1']);
    if (limited !== undefined) this.budget = limited.budget;
    if (fact.name === 'tree/Ended@1') this.hasEnded = true;
    const answered = valueAs(fact, [treeFacts, 'tree/Answered@1']);
    if (answered !== undefined) this.answeredBy.set(answered.ask, answered.by);
  }

  #isTree(address: readonly unknown[]): boolean {
    return address[0] === TREE && address[1] === this.name && address.length === 2;
  }
}

/** The code with which a delivery was rejected. */
function rejectionIn(record: JournalRecord): string | undefined {
  const said = record.kind === 'event' ? record.event : record;
  if (!('name' in said) || said.name !== 'sys/Reply@1' || !('value' in said)) return undefined;
  const { outcome, code } = said.value as { readonly outcome: string; readonly code?: string };
  return outcome === 'rejected' ? (code ?? 'rejected') : undefined;
}
