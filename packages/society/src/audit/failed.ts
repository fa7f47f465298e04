/** The cells of a world that have failed and were not revived, by what frames state of them. */
import { formatAddress } from '@reprise/contracts';
import { type AuditCheck, type AuditRecord, placeOf } from './reading.js';
import type { FailedCell } from './report.js';

/** Follows the marks of failed cells. */
export class FailedCheck implements AuditCheck {
  readonly #failed = new Map<string, FailedCell>();

  take({ record, ...place }: AuditRecord): void {
    if (record.kind !== 'state') return;
    for (const [path, fields] of record.leaves) {
      const mark = path[0] === 'cell' ? fields?.failed : undefined;
      if (!Array.isArray(mark)) continue;
      const cell = formatAddress([String(path[1]), String(path[2])]);
      this.#failed.delete(cell);
      if (mark[0] !== null) this.#failed.set(cell, { cell, code: String(mark[0]), failed: placeOf({ ...place }) });
    }
  }

  /** In the order of their faults. */
  all(): readonly FailedCell[] {
    return [...this.#failed.values()];
  }
}
