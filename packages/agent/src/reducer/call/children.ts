/**
 * Child sessions: ordinary sessions that this session made. Its model knows them as c1, c2 …; the session sends them
 * events in the same frame and receives their notices. Each input for a child sets aside part of the parent's budget
 * (`allowances.ts`).
 */
import { type Address, type InputPart, type SessionOp, utf8Length } from '@reprise/contracts';
import { allRows, digestOf, type ReducerContext } from '@reprise/kernel/define';
import type { RunCause, SessionCommand } from '../../contracts/commands.js';
import type { Adopted, Bounds, RunLimits } from '../../contracts/config.js';
import { type ChildNotice, SESSION_REDUCER } from '../../contracts/session.js';
import type { ChildEntry, PendingCall, SessionState } from '../../contracts/state.js';
import { type Grant, grantFor, setAside, takeAllBack, takePaid } from '../account/allowances.js';
import { givenOf, NO_AMOUNTS } from '../account/budget.js';
import { boundsOf, childLimits, narrowed } from '../account/child-limits.js';
import type { Next } from '../run/moves.js';
import { settleCall } from '../transcript/results.js';
import { childOf, isDone, resultOf, settleWaits, waitFor } from './child-waits.js';
import { goOnBehindChildren } from './waiting.js';

type Op<K extends SessionOp['op']> = Extract<SessionOp, { op: K }>;

/** The longest key from which a child's key is made; a deeper session gets a key of fixed length. */
const KEY_BYTES_MAX = 160;
/** The longest command id that the schema of commands accepts. */
const COMMAND_ID_MAX = 128;

const NOTHING_USED: ChildEntry['tally'] = { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 };

/** Executes a call that the session carries out itself. */
export function executeOp(draft: SessionState, call: PendingCall, op: SessionOp, ctx: ReducerContext): void {
  switch (op.op) {
    case 'spawn':
      return spawn(draft, call, op, ctx);
    case 'send_input':
      return sendInput(draft, call, op, ctx);
    case 'wait':
      return waitFor(draft, call, op, ctx);
    case 'close':
      return close(draft, call, op, ctx);
    default:
      return refuse(draft, call, 'tool_args_invalid', ctx);
  }
}

function spawn(draft: SessionState, call: PendingCall, op: Op<'spawn'>, ctx: ReducerContext): void {
  const { run } = draft;
  if (run === null) return;
  const { limits, spawns } = run.config;
  const agent = spawns.includes(op.agent) ? ctx.table<Adopted>('agents').get(op.agent) : undefined;
  if (agent === undefined) return refuse(draft, call, 'tool_args_invalid/unknown_agent', ctx);
  if (limits.max_depth === 0) return refuse(draft, call, 'cap_denied/depth', ctx);
  if (draft.children >= limits.max_children) return refuse(draft, call, 'cap_denied/children', ctx);
  const inMoney = givenOf(run, 'micro_money') !== undefined || op.max_micro_money !== undefined;
  if (agent.config.price === null && inMoney) return refuse(draft, call, 'cap_denied/model_without_price', ctx);
  const each = boundsOf(agent.config.limits);
  const grant = grantFor(run, { run: null, inputs: 0, allocated: NO_AMOUNTS, each, may: boundsOf(op) });
  if (grant === undefined) return refuse(draft, call, 'cap_denied/budget', ctx);
  const agents = [...allRows(ctx.table<Adopted>('agents'))];
  const name = makeChild(
    draft,
    {
      agent,
      agents: agents.map(([, known]) => known),
      limits: childLimits(agent.config.limits, limits, op, grant),
      each,
      may: boundsOf(op),
      run: run.number,
    },
    ctx,
  );
  sayToChild(draft, name, { parts: op.parts, call_id: call.call_id, grant }, ctx);
  settleCall(draft, call, { children: [resultOf(name, childOf(ctx).get(name))] }, ctx);
}

/** How many open children one session may have, whether its model or the app made them. */
const CHILDREN_MAX = 64;

/**
 * Makes a child for the app. This needs no run of the session, and sets nothing aside from a run's budget.
 *
 * @returns the key of the child session; undefined when the session has too many children
 */
export function spawnForHost(
  draft: SessionState,
  { agent, agents, parts, ...op }: Extract<SessionCommand, { type: 'Spawn' }>,
  command_id: string,
  ctx: ReducerContext,
): string | undefined {
  if (draft.children >= CHILDREN_MAX) return undefined;
  const limits = narrowed(agent.config.limits, op);
  const each = boundsOf(limits);
  const name = makeChild(draft, { agent, agents, limits, each, may: boundsOf({}), run: null }, ctx);
  sendChild(name, { parts, command_id, cause: { kind: 'app', reason: 'spawn' } }, ctx);
  return childOf(ctx).get(name)?.session;
}

interface NewChild {
  readonly agent: Adopted;
  /** The agents that may be spawned below the child. */
  readonly agents: readonly Adopted[];
  readonly limits: RunLimits;
  readonly each: Bounds;
  readonly may: Bounds;
  /** The run that makes the child; null when the app does. */
  readonly run: number | null;
}

function makeChild(
  draft: SessionState,
  { agent, agents, limits, each, may, run }: NewChild,
  ctx: ReducerContext,
): string {
  const name = `c${++draft.spawned}`;
  const own = ctx.address[1];
  const session = utf8Length(own) <= KEY_BYTES_MAX ? `${own}.${name}` : ctx.id(name);
  ctx.send(addressOf(session), {
    name: 'aos.agent/AgentAdopted@1',
    value: {
      def_ref: agent.def_ref,
      // The parent waits for an answer to each input, so each input is a run of its own.
      config: { ...agent.config, limits, after_answer: 'complete' },
      adopt: 'pin',
      agents,
      depth: draft.depth + 1,
      tell_owner: true,
      labels: draft.labels,
    },
  });
  draft.children++;
  const entry: ChildEntry = {
    session,
    agent: agent.config.agent,
    run,
    status: 'running',
    allocated: { ...NO_AMOUNTS },
    inputs: 0,
    each,
    may,
    code: null,
    output_ref: null,
    value_ref: null,
    tally: NOTHING_USED,
  };
  childOf(ctx).set(name, entry);
  ctx.table<string>('child_names').set(session, name);
  tell(draft, name, entry, 'spawned', ctx);
  return name;
}

/** Sends a child the input that a call of the current run contains. */
function sayToChild(
  draft: SessionState,
  name: string,
  { parts, call_id, grant }: { readonly parts: readonly InputPart[]; readonly call_id: string; readonly grant: Grant },
  ctx: ReducerContext,
): void {
  const { run } = draft;
  const entry = childOf(ctx).get(name);
  if (run === null || entry === undefined) return;
  childOf(ctx).set(name, setAside(run, entry, grant));
  const [, session] = ctx.address;
  const command_id = commandIdOf(draft.step_epoch, call_id);
  const root = (run.cause.kind === 'parent' ? run.cause.root : undefined) ?? `${session}/r${run.number}`;
  const cause: RunCause = { kind: 'parent', session, call_id, root };
  sendChild(name, { parts, command_id, cause, allowance: { run: run.number, ...grant.allowance } }, ctx);
}

/** The command id of a call's input in the child; an id that is too long is replaced by its digest. */
function commandIdOf(step: number, call_id: string): string {
  const whole = `${step}.${call_id}`;
  return whole.length <= COMMAND_ID_MAX ? whole : `${step}.${digestOf(call_id)}`;
}

function sendChild(
  name: string,
  input: {
    readonly parts: readonly InputPart[];
    readonly command_id: string;
    readonly cause: RunCause;
    readonly allowance?: { readonly run: number } & Bounds;
  },
  ctx: ReducerContext,
): void {
  const entry = childOf(ctx).get(name);
  if (entry === undefined) return;
  ctx.send(addressOf(entry.session), {
    name: 'aos.agent/UserInput@1',
    value: { ...input, priority: 0 },
  });
  // The earlier answer of the child does not answer this input.
  const fresh = { status: 'running' as const, code: null, output_ref: null, value_ref: null };
  childOf(ctx).set(name, { ...entry, ...fresh });
}

function sendInput(draft: SessionState, call: PendingCall, op: Op<'send_input'>, ctx: ReducerContext): void {
  const entry = childOf(ctx).get(op.child);
  if (draft.run === null) return;
  if (entry === undefined || entry.status === 'closed') return refuse(draft, call, 'tool_args_invalid/no_child', ctx);
  const grant = grantFor(draft.run, entry);
  if (grant === undefined) return refuse(draft, call, 'cap_denied/budget', ctx);
  sayToChild(draft, op.child, { parts: op.parts, call_id: call.call_id, grant }, ctx);
  settleCall(draft, call, { children: [resultOf(op.child, childOf(ctx).get(op.child))] }, ctx);
}

function close(draft: SessionState, call: PendingCall, op: Op<'close'>, ctx: ReducerContext): void {
  const entry = childOf(ctx).get(op.child);
  if (entry === undefined) return refuse(draft, call, 'tool_args_invalid/no_child', ctx);
  if (entry.status !== 'closed') closeChild(draft, op.child, entry, ctx);
  settleCall(draft, call, { children: [resultOf(op.child, childOf(ctx).get(op.child))] }, ctx);
}

function closeChild(draft: SessionState, name: string, entry: ChildEntry, ctx: ReducerContext): void {
  command(entry.session, { type: 'Close' }, `close.${draft.step_epoch}`, ctx);
  const closed: ChildEntry = { ...entry, status: 'closed' };
  childOf(ctx).set(name, closed);
  draft.children--;
  tell(draft, name, closed, 'closed', ctx);
}

/** Cancels the work of all children for the current run. */
export function stopChildren(draft: SessionState, ctx: ReducerContext): void {
  for (const [, entry] of openChildren(ctx)) {
    if (entry.run === draft.run?.number && !isDone(entry))
      command(entry.session, { type: 'Cancel', scope: 'all' }, `cancel.${draft.session_epoch}`, ctx);
  }
}

/** Closes all children, because their session was closed. */
export function closeChildren(draft: SessionState, ctx: ReducerContext): void {
  for (const [name, entry] of openChildren(ctx)) closeChild(draft, name, entry, ctx);
}

/** The children that are not closed. Their number is bounded; the number of closed ones is not. */
function* openChildren(ctx: ReducerContext): Generator<[string, ChildEntry]> {
  for (const [name, entry] of allRows(childOf(ctx))) if (entry.status !== 'closed') yield [name, entry];
}

function command(session: string, what: object, command_id: string, ctx: ReducerContext): void {
  ctx.send(addressOf(session), { name: 'aos.agent/HostCommand@1', value: { command_id, command: what } });
}

/** Takes a notice of a child. */
export function childNews(draft: SessionState, { news }: ChildNotice, ctx: ReducerContext, name: string): Next {
  const entry = childOf(ctx).get(name);
  if (entry === undefined) return undefined;
  const paid = news.kind === 'settled' || news.kind === 'spent' ? news.paid : undefined;
  const ended = news.kind === 'settled' ? 1 : 0;
  const next = afterNews(paid === undefined ? entry : takePaid(draft, [name, entry], paid, ended, ctx), news);
  childOf(ctx).set(name, next);
  // Of a closed child, only the usage still counts.
  if (entry.status !== 'closed') {
    if (next.status === 'closed') draft.children--;
    if (next.status !== entry.status || news.kind === 'settled') tell(draft, name, next, next.status, ctx);
  }
  return (
    settleWaits(draft, ctx) ??
    (paid !== undefined || next.status !== entry.status ? goOnBehindChildren(draft, ctx) : undefined)
  );
}

/** Handles an event that did not reach a child: the gate refused it, or the child has failed for good. */
export function childUnreachable(
  draft: SessionState,
  { to, event, code: why }: { readonly to: Address; readonly event: string; readonly code: string },
  ctx: ReducerContext,
): Next {
  const child = childAt(to, ctx);
  if (child === undefined) return undefined;
  const denied = why === 'denied';
  const code = denied ? 'policy_denied/unreachable' : 'internal_invariant_violation/unreachable';
  // A gate that refuses an event does not stop a working child: it continues to use its budget, and reports later. A
  // child that was not made never works, and a refused input never becomes an input of the child.
  const isInput = event === 'aos.agent/UserInput@1';
  const atWork = denied && event !== 'aos.agent/AgentAdopted@1' && (!isInput || child[1].inputs > 1);
  const mayHaveUsed = why === 'cell_failed' || why === 'faulted';
  const working = isInput ? { ...child[1], inputs: child[1].inputs - 1 } : child[1];
  const left = atWork ? working : takeAllBack(draft, child, mayHaveUsed, ctx);
  return childLost(draft, [child[0], left], code, ctx);
}

/** Handles the failure of a child's cell: the child sends nothing more unless an operator revives it. */
export function childFailed(
  draft: SessionState,
  { cell, code }: { readonly cell: Address; readonly code: string },
  ctx: ReducerContext,
): Next {
  const child = childAt(cell, ctx);
  if (child === undefined) return undefined;
  const left = takeAllBack(draft, child, true, ctx);
  return childLost(draft, [child[0], left], `internal_invariant_violation/${code}`, ctx);
}

function childAt(cell: Address, ctx: ReducerContext): [string, ChildEntry] | undefined {
  const name = cell[0] === SESSION_REDUCER ? ctx.table<string>('child_names').get(cell[1]) : undefined;
  const entry = name === undefined ? undefined : childOf(ctx).get(name);
  return name === undefined || entry === undefined ? undefined : [name, entry];
}

/** Marks a child as failed; a child that is already marked keeps its first code. */
function childLost(
  draft: SessionState,
  [name, entry]: readonly [string, ChildEntry],
  code: string,
  ctx: ReducerContext,
): Next {
  const status = entry.status === 'closed' ? 'closed' : 'failed';
  const known = entry.status === 'failed' && entry.code !== null;
  const lost: ChildEntry = { ...entry, status, code: known ? entry.code : code };
  childOf(ctx).set(name, lost);
  if (status !== entry.status) tell(draft, name, lost, status, ctx);
  return settleWaits(draft, ctx) ?? goOnBehindChildren(draft, ctx);
}

function afterNews(entry: ChildEntry, news: ChildNotice['news']): ChildEntry {
  if (news.kind === 'pressure' || news.kind === 'spent') return entry;
  if (news.kind !== 'settled') return { ...entry, status: entry.status === 'closed' ? 'closed' : news.kind };
  const { stop, output_ref, value_ref, tally, more } = news;
  const ended = { Completed: 'completed', Cancelled: 'cancelled', Failed: 'failed', LimitsExceeded: 'failed' } as const;
  const status = entry.status === 'closed' ? 'closed' : more ? 'running' : ended[stop.kind];
  const code = stop.kind === 'Failed' ? stop.code : stop.kind === 'LimitsExceeded' ? stop.limit : null;
  return { ...entry, status, code, output_ref, value_ref, tally };
}

/** Whether a child works for the run at hand, and so may give back some of what is set aside for it. */
export function childWorks(draft: SessionState, ctx: ReducerContext): boolean {
  for (const [, entry] of openChildren(ctx)) if (entry.run === draft.run?.number && !isDone(entry)) return true;
  return false;
}

function tell(
  draft: SessionState,
  child: string,
  { session, agent, output_ref }: ChildEntry,
  status: 'spawned' | ChildEntry['status'],
  ctx: ReducerContext,
): void {
  const output = output_ref === null ? {} : { output_ref };
  ctx.record('aos.agent/ChildChanged@1', { run: draft.run?.number ?? null, child, session, agent, status, ...output });
}

function refuse(draft: SessionState, call: PendingCall, code: string, ctx: ReducerContext): void {
  settleCall(draft, call, { non_execution: { kind: code.startsWith('cap_denied') ? 'denied' : 'failed', code } }, ctx);
}

function addressOf(session: string): Address {
  return [SESSION_REDUCER, session];
}
