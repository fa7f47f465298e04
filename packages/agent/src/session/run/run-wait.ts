/**
 * What a run waits for when nothing goes on by itself: people, input, a higher limit, or a resume. It is read from the
 * states of the run's session and of the sessions below it, which are durable.
 */
import { type Address, RepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import type { WaitsFor } from '../../contracts/lifecycle.js';
import { SESSION_REDUCER } from '../../contracts/session.js';
import type { ChildEntry, SessionState } from '../../contracts/state.js';
import type { Pending } from './pending.js';

/** What a run waits for. */
export interface Waiting {
  readonly status: 'waiting';
  /**
   * `approval`, `ask`: a person decides or answers; `input`: the next message; `limit`: higher limits; `resume`: the
   * session is paused, or its last run failed before this one began.
   */
  readonly for: Exclude<WaitsFor, 'children' | 'owner'> | 'resume';
  /** The session that waits: the run's own, or one below it. */
  readonly session: string;
  /** The items that a person may decide or answer, of all sessions that wait; `world.decide` takes them. */
  readonly pending: readonly Pending[];
  /** When the wait ends by itself, in journal milliseconds; null when it does not. */
  readonly until: number | null;
}

/** The parts of a world that tell what a run waits for. */
export interface WaitParts {
  readonly world: Pick<World, 'state' | 'table' | 'openEffects'>;
  /** The pending items of a session. */
  pending(session: string): Promise<readonly Pending[]>;
}

/** How deep children are followed: deeper than any tree of sessions may be. */
const DEPTH_MAX = 16;
/** The most children of a page of the table. */
const CHILDREN_PAGE = 256;

/** What a session waits for; undefined while it works, or once nothing is left to do. */
export async function waitOf(parts: WaitParts, session: string, depth = 0): Promise<Waiting | undefined> {
  const state = (await parts.world.state([SESSION_REDUCER, session])) as unknown as SessionState | undefined;
  if (state === undefined || depth > DEPTH_MAX) return undefined;
  const { lifecycle, waiting, queued } = state;
  const isHeldUp = (lifecycle === 'Failed' || lifecycle === 'Cancelled') && queued > 0;
  if (lifecycle === 'Paused' || isHeldUp) return waitingIn(parts, session, 'resume', null);
  if (lifecycle !== 'WaitingInput' || waiting === null) return undefined;
  if (waiting.for === 'children') return waitOfChildren(parts, session, depth);
  // The cell that made the session works on the call; whether it waits itself, its own state says.
  if (waiting.for === 'owner') return undefined;
  return waitingIn(parts, session, waiting.for, waiting.until);
}

async function waitingIn(
  parts: WaitParts,
  session: string,
  what: Waiting['for'],
  until: number | null,
): Promise<Waiting> {
  return { status: 'waiting', for: what, session, pending: await parts.pending(session), until };
}

/** Children that all wait make their parent wait for the same; one that works does not. */
async function waitOfChildren(parts: WaitParts, session: string, depth: number): Promise<Waiting | undefined> {
  const found: Waiting[] = [];
  for await (const { session: child } of unfinishedChildren(parts, session)) {
    const waiting = await waitOf(parts, child, depth + 1);
    if (waiting === undefined) return undefined;
    found.push(waiting);
  }
  const [first] = found;
  return first === undefined ? undefined : { ...first, pending: found.flatMap(({ pending }) => pending) };
}

/**
 * Whether a session cannot end its run before an effect of a cell has ended: one of its own, or of a session below it whose
 * end it waits for.
 */
export async function waitsForCell(parts: WaitParts, session: string, cell: Address, depth = 0): Promise<boolean> {
  if (cell[0] !== SESSION_REDUCER) return false;
  if (cell[1] === session) return true;
  const state = (await parts.world.state([SESSION_REDUCER, session])) as unknown as SessionState | undefined;
  if (state?.waiting?.for !== 'children' || depth > DEPTH_MAX) return false;
  for await (const { session: child } of unfinishedChildren(parts, session))
    if (await waitsForCell(parts, child, cell, depth + 1)) return true;
  return false;
}

/** The sessions below a session that have not ended, at any depth. */
export async function* sessionsOf(parts: WaitParts, session: string, depth = 0): AsyncGenerator<string> {
  if (depth > DEPTH_MAX) return;
  for await (const { session: child } of unfinishedChildren(parts, session)) {
    yield child;
    yield* sessionsOf(parts, child, depth + 1);
  }
}

async function* unfinishedChildren({ world }: WaitParts, session: string): AsyncGenerator<ChildEntry> {
  for (let after: string | undefined; ; ) {
    const range = { limit: CHILDREN_PAGE, ...(after === undefined ? {} : { after }) };
    const rows = await world.table([SESSION_REDUCER, session], 'children', range);
    for (const [, row] of rows) {
      const child = row as unknown as ChildEntry;
      if (child.status === 'running' || child.status === 'waiting') yield child;
    }
    after = rows.at(-1)?.[0];
    if (rows.length < CHILDREN_PAGE || after === undefined) return;
  }
}

/** What makes a run go on, by what it waits for. */
const NEXT: Readonly<Record<Waiting['for'], string>> = {
  approval: 'Decide about it with `world.decide`, here or in a process that opens the world later.',
  ask: 'Answer it with `world.answer`, here or in a process that opens the world later.',
  input: 'Send the next message with `session.send`.',
  limit: 'Raise the limit with `session.reconfigure`, or cancel the run.',
  resume: 'Call `session.resume()`.',
};

/** The error of a run that waits in a process in which nothing else is left to do. */
export async function runWaiting(parts: WaitParts, run: string, session: string): Promise<RepriseError> {
  const waiting = await waitOf(parts, session);
  const instead = '`run.endedOrWaiting()` returns as soon as the run waits.';
  if (waiting === undefined) {
    const open = await parts.world.openEffects();
    const own = open.filter(({ cell }) => cell[1] === session).map(({ name }) => name);
    return new RepriseError('run_waiting', `run ${run} waits, and nothing is left in this process to do`, {
      where: `session ${session}`,
      actual: own.length === 0 ? 'no work that goes on by itself' : `open effects: ${own.join(', ')}`,
      hint: `Under manual drive, call \`world.pump()\`; a call that an outside system finishes needs \`world.settle\`. ${instead}`,
    });
  }
  return new RepriseError('run_waiting', `run ${run} waits, and nothing in this process will make it go on`, {
    where: `session ${waiting.session}`,
    actual: [waiting.for, ...waiting.pending.map(described)].join(': '),
    waiting,
    hint: `${NEXT[waiting.for]} ${instead}`,
  });
}

function described({ id, tool, question, reason }: Pending): string {
  return `${tool ?? question?.question ?? 'an item'} (${id})${reason === undefined ? '' : `: ${reason}`}`;
}
