/** Views over the projects of a world. */
import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '@reprise/kernel';
import { PROJECT_STATUSES, projectFacts, taskCounts } from '../pure/index.js';

const count = z.int().min(0);

const recordedProject = z.strictObject({
  /** The team; null until it was read. */
  team: z.nullable(z.string()),
  status: z.enum(PROJECT_STATUSES),
  tasks: taskCounts,
  /** Results that have ended and were not processed. */
  unprocessed: count,
  /** Jobs that are under way. */
  jobs: count,
  /** When it began and last changed, in journal milliseconds. */
  started: count,
  updated: count,
  seq: count,
});

export type RecordedProject = z.infer<typeof recordedProject>;

/** Every project, by its id. Index `updated`: the longest unchanged first. */
export const projectRows = projectionOnUse('specialists/Projects@1', () =>
  defineProjection({
    name: 'specialists/Projects@1',
    row: recordedProject,
    from: { 'fact:specialists/ProjectChanged@1': projectFacts['specialists/ProjectChanged@1'] },
    indexes: { updated: (row) => [row.updated, row.seq] },
    fold(rows, { cell, seq, at, value: { team, status, counts, unprocessed, jobs } }) {
      const id = cell?.[1];
      if (id === undefined) return;
      const started = rows.get(id)?.started ?? at;
      rows.put(id, { team, status, tasks: counts, unprocessed, jobs, started, updated: at, seq });
    },
  }),
);
