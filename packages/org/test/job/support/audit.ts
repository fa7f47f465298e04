/** What must hold in the journal of every world with jobs, read from its records alone. */
import { formatAddress, type JournalRecord } from '@reprise/contracts';
import { readFrame, type Store } from '@reprise/kernel';
import { JOB, JOB_ENDED, type JobChanged } from '@reprise/org';

/** One job, as its records show it. */
interface Seen {
  readonly statuses: string[];
  grants: number;
  frees: number;
  /** The sessions that it made. */
  readonly sessions: Set<string>;
  attempts: number;
  afterEnd: number;
}

/** Reads every record of a store. */
export async function recordsOf(store: Store): Promise<JournalRecord[]> {
  const read = await store.openReadonly();
  const records: JournalRecord[] = [];
  for await (const { bytes, seq } of read.journal.read(0)) records.push(...readFrame(bytes, seq).all);
  await read.close();
  return records;
}

/** The jobs in these records. @throws Error for a job that breaks a promise */
export function auditJobs(records: readonly JournalRecord[]): Map<string, readonly string[]> {
  const jobs = new Map<string, Seen>();
  const items = new Map<string, string>();
  for (const record of records) see(jobs, items, record);
  for (const [job, seen] of jobs) hold(job, seen);
  return new Map([...jobs].map(([job, { statuses }]) => [job, statuses]));
}

function see(jobs: Map<string, Seen>, items: Map<string, string>, record: JournalRecord): void {
  if (record.kind === 'fact' && record.from?.[0] === JOB && record.name === 'work/JobChanged@1') {
    const { status, attempt } = record.value as unknown as JobChanged;
    const seen = jobOf(jobs, record.from[1] ?? '');
    seen.statuses.push(status);
    seen.attempts = Math.max(seen.attempts, attempt);
    return;
  }
  if (record.kind === 'intent' && record.plan[0] === JOB) emitted(jobOf(jobs, record.plan[1]));
  if (record.kind !== 'event') return;
  const { from, to, event } = record;
  const item = (event.value as { readonly item?: string }).item ?? '';
  if (to[0] === JOB && event.name === 'flow/Granted@1') jobOf(jobs, to[1]).grants++;
  if (to[0] === JOB && event.name === 'flow/Expired@1') jobOf(jobs, to[1]).frees++;
  if (from === null || from[0] !== JOB) return;
  const seen = jobOf(jobs, from[1]);
  if (event.name === 'flow/Enqueue@1') items.set(item, from[1]);
  if (event.name === 'flow/Done@1') seen.frees++;
  if (event.name === 'aos.agent/AgentAdopted@1') seen.sessions.add(formatAddress(to));
  if (event.name !== 'work/JobChanged@1' && event.name !== 'flow/Done@1' && event.name !== 'flow/CancelItem@1')
    emitted(seen);
}

/** What a job emits after its end. Its last change, and the slot that it gives back, belong to the end. */
function emitted(seen: Seen): void {
  if (JOB_ENDED.includes(seen.statuses.at(-1) as never)) seen.afterEnd++;
}

function jobOf(jobs: Map<string, Seen>, key: string): Seen {
  const known = jobs.get(key) ?? {
    statuses: [],
    grants: 0,
    frees: 0,
    sessions: new Set(),
    attempts: 0,
    afterEnd: 0,
  };
  jobs.set(key, known);
  return known;
}

function hold(job: string, { statuses, grants, frees, sessions, attempts, afterEnd }: Seen): void {
  const ends = statuses.filter((status) => JOB_ENDED.includes(status as never)).length;
  const at = `${job}: ${statuses.join(' ')}`;
  if (ends > 1 || (ends === 1 && !JOB_ENDED.includes(statuses.at(-1) as never)))
    throw new Error(`it ended ${ends} times: ${at}`);
  if (ends === 1 && grants !== frees) throw new Error(`${grants} grants and ${frees} slots given back: ${at}`);
  if (frees > grants) throw new Error(`a slot given back twice: ${at}`);
  if (sessions.size > attempts) throw new Error(`${sessions.size} sessions for ${attempts} attempts: ${at}`);
  if (statuses.at(-1) === 'waiting' && grants !== frees) throw new Error(`it waits with a slot: ${at}`);
  if (afterEnd > 0) throw new Error(`it emitted ${afterEnd} times after its end: ${at}`);
}
