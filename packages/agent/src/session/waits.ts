/** What keeps a session from going on: for whom or for what it waits, and each session below it. From durable states alone. */
import type { Address, Value } from '@reprise/contracts';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { ChildEntry, SessionState } from '../contracts/state.js';

/** A session that waits. Trees and teams use the same kinds for the sessions of their nodes and jobs. */
export type SessionWait =
  /** A person decides about one of its calls. */
  | { readonly kind: 'approval'; readonly session: string }
  /** A tool asked a person, or left its call to another system: `world.answer`, `world.settle`. */
  | { readonly kind: 'person'; readonly session: string }
  /** More input: the next message. `until`: when the run ends without one, in journal milliseconds; absent when it does not. */
  | { readonly kind: 'input'; readonly session: string; readonly until?: number }
  /** It reached a limit, and waits for another one. */
  | { readonly kind: 'limit'; readonly session: string }
  /** A cell of the app, or the cell that leads the session, has one of its calls answered by another party. */
  | { readonly kind: 'app'; readonly session: string }
  /** It was paused, or inputs wait behind a run that failed or was cancelled: `session.resume()`. */
  | { readonly kind: 'pause'; readonly session: string }
  /** Its children have not ended: these sessions. */
  | { readonly kind: 'children'; readonly session: string; readonly on: readonly string[] };

/** What reads the states of sessions: a world, or a journal as it was. */
export interface SessionReader {
  state(address: Address): Promise<Value | undefined>;
  table(
    address: Address,
    name: string,
    range: { readonly limit: number; readonly after?: string },
  ): Promise<readonly (readonly [string, Value])[]>;
}

/** How deep children are followed: deeper than any tree of sessions may be. */
const DEPTH_MAX = 16;
const PAGE = 256;

/** What a session waits for, and what each session below it waits for, parents first; empty when it works or is done. */
export function sessionWaits(reader: SessionReader, session: string): Promise<readonly SessionWait[]> {
  return waitsBelow(reader, session, 0);
}

async function waitsBelow(reader: SessionReader, session: string, depth: number): Promise<readonly SessionWait[]> {
  const state = (await reader.state([SESSION_REDUCER, session])) as unknown as SessionState | undefined;
  if (state === undefined || depth > DEPTH_MAX) return [];
  const children = state.children === 0 ? [] : await unfinishedChildren(reader, session);
  const own = ownWait(session, state, children);
  const found = own === undefined ? [] : [own];
  for (const child of children) found.push(...(await waitsBelow(reader, child, depth + 1)));
  return found;
}

/** What a session waits for, by its state. */
function ownWait(session: string, state: SessionState, children: readonly string[]): SessionWait | undefined {
  const { lifecycle, waiting, queued } = state;
  const isHeldUp = (lifecycle === 'Failed' || lifecycle === 'Cancelled') && queued > 0;
  if (lifecycle === 'Paused' || isHeldUp) return { kind: 'pause', session };
  if (lifecycle !== 'WaitingInput' || waiting === null) return undefined;
  switch (waiting.for) {
    case 'children':
      return { kind: 'children', session, on: children };
    case 'ask':
      return { kind: 'person', session };
    case 'owner':
      return { kind: 'app', session };
    case 'input':
      return { kind: 'input', session, ...(waiting.until === null ? {} : { until: waiting.until }) };
    default:
      return { kind: waiting.for, session };
  }
}

async function unfinishedChildren(reader: SessionReader, session: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const range = { limit: PAGE, ...(after === undefined ? {} : { after }) };
    const rows = await reader.table([SESSION_REDUCER, session], 'children', range);
    for (const [, row] of rows) {
      const { status, session: child } = row as unknown as ChildEntry;
      if (status === 'running' || status === 'waiting') found.push(child);
    }
    after = rows.at(-1)?.[0];
    if (rows.length < PAGE || after === undefined) return found;
  }
}

/** Whether a wait ends only by what comes from outside: from a person, or from the app. */
export function sessionEndsFromOutside(wait: SessionWait): boolean {
  if (wait.kind === 'children') return false;
  return wait.kind !== 'input' || wait.until === undefined;
}
