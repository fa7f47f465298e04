/** Which nodes of trees are paused: each stands still, with all below it, until a person resumes it. */
import type { JournalRecord, Value } from '@reprise/contracts';
import type { SnapshotLeaves } from '@reprise/kernel/inspect';
import { REDUCERS } from '../names/reducers.js';

/** A node that stands still with all below it. */
interface PausedNode {
  readonly tree: string;
  readonly n: number;
  readonly goal: string;
  /** Where it was paused; null for before the newest snapshot. */
  readonly place: Place | null;
}

interface Place {
  readonly frame: number;
  readonly at: number;
}

interface NodeFields {
  readonly n: number;
  readonly goal: string;
  readonly paused: boolean;
  readonly status: string;
}

const OVER: readonly string[] = ['complete', 'failed', 'cancelled'];
const PAGE = 256;

/** Follows the pauses of nodes. */
export class TreePauses {
  readonly #paused = new Map<string, PausedNode>();

  /** The paused nodes, the oldest pause first. */
  get all(): readonly PausedNode[] {
    return [...this.#paused.values()];
  }

  /** Takes the nodes of a tree that a snapshot holds. */
  async load(snapshot: SnapshotLeaves, tree: string): Promise<void> {
    for (let after: string | undefined; ; ) {
      const range = { limit: PAGE, ...(after === undefined ? {} : { after }) };
      const rows = await snapshot.table([REDUCERS.tree, tree], 'nodes', range);
      for (const [, row] of rows) this.#node(tree, row, null);
      after = rows.at(-1)?.[0];
      if (rows.length < PAGE) return;
    }
  }

  /** Takes a record of the journal. */
  take(record: JournalRecord, place: Place): void {
    if (record.kind !== 'fact' || record.from?.[0] !== REDUCERS.tree) return;
    const [, tree] = record.from;
    if (record.name === 'tree/NodeChanged@1') this.#node(tree, record.value, place);
    if (record.name !== 'tree/Ended@1') return;
    for (const [key, one] of this.#paused) if (one.tree === tree) this.#paused.delete(key);
  }

  #node(tree: string, row: Value, place: Place | null): void {
    const { n, goal, paused, status } = row as unknown as NodeFields;
    const key = `${tree}/${n}`;
    if (!paused || OVER.includes(status)) this.#paused.delete(key);
    else if (!this.#paused.has(key)) this.#paused.set(key, { tree, n, goal, place });
  }
}
