/** What agents have brought back from elsewhere and a person has to review. */
import type { JournalRecord, Value } from '@reprise/contracts';
import type { SnapshotLeaves } from '@reprise/kernel/inspect';
import { REDUCERS } from '../names/reducers.js';

/** A return that waits for its review. */
interface WaitingReturn {
  /** The person who reviews it. */
  readonly person: string;
  readonly agent: string;
  /** Its id, as `staging_review` takes it. */
  readonly id: string;
  readonly items: number;
  /** When it came; null for before the newest snapshot. */
  readonly place: Place | null;
}

interface Place {
  readonly frame: number;
  readonly at: number;
}

interface StagedRow {
  readonly filled: boolean;
  readonly left: readonly number[];
  readonly review: Value;
}

const PAGE = 256;

/** Follows returns to people; agents review what comes to them in their own time. */
export class Returns {
  readonly #people = new Set<string>();
  readonly #waiting = new Map<string, WaitingReturn>();

  /** The returns that wait, the oldest first. */
  get all(): readonly WaitingReturn[] {
    return [...this.#waiting.values()];
  }

  /** Takes what the people of a snapshot have to review. */
  async load(snapshot: SnapshotLeaves): Promise<void> {
    for await (const { address, state } of snapshot.cells([REDUCERS.entity])) {
      if ((state as { readonly kind?: Value }).kind !== 'person') continue;
      const [, person] = address;
      this.#people.add(person);
      for (const [key, row] of await snapshot.table(address, 'staged', { limit: PAGE })) {
        const { filled, left, review } = row as unknown as StagedRow;
        if (filled && left.length > 0 && review === null) this.#add(person, key, left.length);
      }
    }
  }

  #add(person: string, key: string, items: number): void {
    const [agent = ''] = key.split('.');
    const id = `staging-${key.replace('.', '-')}`;
    this.#waiting.set(id, { person, agent, id, items, place: null });
  }

  /** Takes a record of the journal. */
  take(record: JournalRecord, place: Place): void {
    if (record.kind === 'request' && record.event.name === 'society/Human@1') this.#people.add(record.to[1]);
    if (record.kind !== 'fact' || record.from?.[0] !== REDUCERS.entity) return;
    const [, person] = record.from;
    const { agent_id: agent, staging_group_id: id, items } = record.value as Readonly<Record<string, Value>>;
    if (record.name === 'society/Reviewed@1') this.#waiting.delete(String(id));
    if (record.name !== 'society/Returned@1' || !this.#people.has(person)) return;
    this.#waiting.set(String(id), { person, agent: String(agent), id: String(id), items: Number(items), place });
  }
}
