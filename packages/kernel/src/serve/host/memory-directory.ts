import { RepriseError } from '@reprise/contracts';
import { compareBytes } from '../../pure/codec/index.js';
import type { HostDirectory, OpenDirectory, RowQuery, WorldRow } from './directory.js';

/**
 * A directory in this process's memory, for tests and for hosts whose worlds also live in memory. Every query scans
 * all rows.
 */
export function memoryDirectory(): HostDirectory {
  const rows = new Map<string, WorldRow>();
  let held = false;
  return {
    label: 'memory',
    open: async () => {
      if (held) throw new RepriseError('world_locked', 'the directory is already open', { where: 'memory' });
      held = true;
      return new MemoryDirectory(rows, () => {
        held = false;
      });
    },
  };
}

class MemoryDirectory implements OpenDirectory {
  #closed = false;

  constructor(
    private readonly rows: Map<string, WorldRow>,
    private readonly release: () => void,
  ) {}

  async get(world: string): Promise<WorldRow | undefined> {
    return this.#open().get(world);
  }

  async set(rows: readonly WorldRow[]): Promise<void> {
    const all = this.#open();
    for (const { world, nextWakeAt, open } of rows) all.set(world, { world, nextWakeAt, open });
  }

  async remove(world: string): Promise<void> {
    this.#open().delete(world);
  }

  async list({ open, dueBefore = Number.POSITIVE_INFINITY, after, limit }: RowQuery): Promise<readonly WorldRow[]> {
    const asked = [...this.#open().values()].filter(
      (row) =>
        (open === undefined || row.open === open) &&
        (dueBefore === Number.POSITIVE_INFINITY || isDue(row, dueBefore)) &&
        (after === undefined || byId(row.world, after) > 0),
    );
    return asked.sort((a, b) => byId(a.world, b.world)).slice(0, limit);
  }

  async due(until: number, limit: number): Promise<readonly WorldRow[]> {
    const due = [...this.#open().values()].filter((row) => !row.open && isDue(row, until));
    return due.sort((a, b) => timeOf(a) - timeOf(b) || byId(a.world, b.world)).slice(0, limit);
  }

  async nextDue(after: number): Promise<number | null> {
    let next = Number.POSITIVE_INFINITY;
    for (const row of this.#open().values()) if (!row.open && timeOf(row) > after) next = Math.min(next, timeOf(row));
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  async close(): Promise<void> {
    if (!this.#closed) this.release();
    this.#closed = true;
  }

  #open(): Map<string, WorldRow> {
    if (!this.#closed) return this.rows;
    throw new RepriseError('world_closed', 'the directory was closed', { where: 'memory' });
  }
}

function timeOf({ nextWakeAt }: WorldRow): number {
  return nextWakeAt ?? Number.POSITIVE_INFINITY;
}

function isDue(row: WorldRow, until: number): boolean {
  return timeOf(row) <= until;
}

const utf8 = new TextEncoder();

function byId(a: string, b: string): number {
  return compareBytes(utf8.encode(a), utf8.encode(b));
}
