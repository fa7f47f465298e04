/** Mistakes in projects and jobs, each of which random schedules must find. */
import { fileURLToPath } from 'node:url';
import type { Planted } from '../bundle.js';

const of = (file: string): string => fileURLToPath(new URL(`../../packages/${file}`, import.meta.url));
const project = (file: string): string => of(`specialists/src/pure/reducer/${file}`);

/** Mistakes, by what they do. */
export const MUTANTS: Readonly<Record<string, Planted>> = {
  'a result is processed by a run that failed': {
    file: project('coordinator/wake.ts'),
    from: 'if (!isCompleted) return countVain(delivery, results);',
    to: '',
  },
  'a result that was shown in vain is not counted': {
    file: project('coordinator/wake.ts'),
    from: 'shown: resultOr(delivery, n).shown + 1 }',
    to: 'shown: resultOr(delivery, n).shown }',
  },
  'a task that runs can be spawned': {
    file: project('task/spawn.ts'),
    from: "if (row.status !== 'pending') {",
    to: "if (row.status !== 'pending' && row.status !== 'running') {",
  },
  'a task begins when one of those that it needs has ended': {
    file: project('task/tasks.ts'),
    from: "if (open === 0) moveTask(delivery, n, row, 'pending', { open });",
    to: "if (open >= 0) moveTask(delivery, n, row, 'pending', { open });",
  },
  'a failed task releases what depends on it': {
    file: project('task/tasks.ts'),
    from: "return row !== undefined && (row.status === 'completed' || row.status === 'skipped');",
    to: "return row !== undefined && ['completed', 'skipped', 'failed'].includes(row.status);",
  },
  'a failed plan of a wake leaves its reading open': {
    file: project('project-reducer.ts'),
    from: "if (purpose.kind === 'wake') notWoken(delivery, purpose.results, failure);",
    to: "if (purpose.kind === 'wake') return notWoken(delivery, purpose.results, failure);",
  },
  'what comes while the skills are read waits for nothing': {
    file: project('project/team.ts'),
    from: 'if (inbox.size > 0) startReading(delivery);',
    to: '',
  },
  'wakes without a person have no bound': {
    file: project('project/status.ts'),
    from: 'return delivery.state.wake.unattended >= max;',
    to: 'return delivery.state.wake.unattended > max + 100;',
  },
  'a wake is permitted once more than the team states': {
    file: project('project/status.ts'),
    from: 'return delivery.state.wake.unattended >= max;',
    to: 'return delivery.state.wake.unattended > max;',
  },
  'a wake is not counted': {
    file: project('coordinator/wake.ts'),
    from: '  wake.unattended++;\n',
    to: '',
  },
  'a result that has ended is not counted': {
    file: project('task/jobs.ts'),
    from: 'state.unprocessed++;',
    to: "if (row.status === 'ok') state.unprocessed++;",
  },
  'a task that was cancelled while it ran completes': {
    file: project('task/jobs.ts'),
    from: '  if (stopped !== null) {\n',
    to: "  if (stopped !== null && status !== 'ok') {\n",
  },
  'a job that ends keeps its slot': {
    file: of('org/src/pure/job/job-ends.ts'),
    from: "draft.slot === 'held' ? END_TAG : undefined",
    to: 'undefined',
  },
};

/** A mistake that the order of launches shows: a slot goes to the line before what the end releases has joined it. */
export const SLOT_FIRST: Planted = {
  file: of('org/src/pure/job/job-ends.ts'),
  from: "  if (draft.slot !== 'held') leavePool(draft, ctx);",
  to: '  leavePool(draft, ctx);',
};

/** A mistake that a ledger beside a project with a budget shows: what is set aside is not counted for the next share. */
export const UNRESERVED: Planted = {
  file: of('org/src/pure/kit/ledger.ts'),
  from: 'return amount - spent[unit] - reserved;',
  to: 'return amount - spent[unit];',
};
