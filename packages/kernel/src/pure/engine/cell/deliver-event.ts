/**
 * Delivers one event to one cell: the savepoint around a reducer.
 *
 * Invariants
 * D1  A delivery takes place whole or not at all (RED-3). The reducer gets a draft, a copy of the state; its requests
 *     wait in the context; the cell, its logs and its requests are written only when the recipe, the schema of the state
 *     and every bound have accepted them.
 * D2  What is written is a copy in normal form. A recipe that keeps its draft, its event or something that it put into
 *     the state can change its own copy later, and no state that was committed.
 * D3  A leaf that is not in memory ends the fold, whatever the recipe does with the exception: one that caught it would
 *     otherwise decide by what happened to be loaded (RED-14).
 * D4  The order of requests is the order in which the recipe made them: senders, plans and facts are journaled in it.
 */
import type { Actor, Address, ErrorCode, FaultCode, PlanAddress, Principal, Sender, Value } from '@reprise/contracts';
import { actorOf, formatAddress, raiseExhaustion } from '@reprise/contracts';
import { copyNormal, copyValue, type NormalValue, normalValue } from '../../codec/index.js';
import { type EventDefinition, type ReducerDefinition, reducerFor } from '../../define/index.js';
import { applyCommand } from '../command/commands.js';
import { forget, forgetAll, keepOpen, tellAskers } from '../frame/asked.js';
import { type EventDelivery, type FrameFold, normalGiven } from '../frame/frame-fold.js';
import { notify, tellMaker } from '../frame/notify.js';
import { gateSend, isOwn, type Refused, sendText } from '../gate/gate.js';
import { effectBehind, holderOf } from '../gate/rights.js';
import { LEAF_BYTES_MAX } from '../leaf/bounds.js';
import { detailsOfFailure } from '../leaf/failed.js';
import { cellKey, effectKey, failedKey, type LeafKey, logKey, planKey, timerKey } from '../leaf/leaf-key.js';
import type { CellLeaf, CellState, DecidedBy, LogLeaf, PlanLeaf } from '../leaf/leaves.js';
import { Fault, Refusal, Rejected, thrownBy } from '../leaf/signals.js';
import { abandonBySettler, cancelPlan, stopPlan } from '../ledger/settle.js';
import { CellContext, type CellOutput } from './cell-context.js';
import { requireDeclaredSender } from './declared-sender.js';
import { fittedState } from './fitted-state.js';
import { presentState, signature } from './migrate.js';
import { nextCell, rememberState } from './next-state.js';
import { runPure } from './purity.js';

/** Why an event could not reach its cell. */
type Unreachable = 'cell_absent' | 'cell_failed' | 'unknown_reducer' | 'event_invalid';

/** Delivers one event: the delivery takes place whole, or not at all. */
export function deliverEvent(fold: FrameFold, delivery: EventDelivery): void {
  const reducer = reducerFor(fold.env.app, delivery.to[0]);
  if (reducer === undefined) return unreachable(fold, delivery, 'unknown_reducer');
  const event = reducer.events.get(delivery.event.name);
  if (event === undefined) return unreachable(fold, delivery, 'event_invalid');
  const before = fold.overlay.get(cellKey(delivery.to));
  if (delivery.making === true && !isMaker(fold, delivery, before)) return refuseSend(fold, delivery, NOT_THE_MAKER);
  const cell = openCell(fold, delivery, before, event.creates);
  if (typeof cell === 'string') return unreachable(fold, delivery, cell);
  try {
    const done = reduceCell(fold, delivery, { reducer, event, cell });
    takePlace(fold, delivery, done);
  } catch (thrown) {
    // A recipe may have caught the miss and thrown another error: the leaf is loaded and the frame folded again.
    if (fold.overlay.missed !== undefined) throw fold.overlay.missed;
    if (thrown instanceof Rejected) reject(fold, delivery, thrown.code);
    else if (thrown instanceof Fault) failCell(fold, delivery, before, thrown);
    else throw thrown;
  }
}

/** Whether a sender that was to make a cell is still its maker: another may have been faster, in this very cascade. */
function isMaker(fold: FrameFold, { from, to }: EventDelivery, cell: CellLeaf | undefined): boolean {
  return cell?.live !== true || from === null || isOwn(fold, [from[0], from[1]], to);
}

const NOT_THE_MAKER: Refused = { allow: false, code: 'policy_denied', rule: null };

function openCell(
  fold: FrameFold,
  delivery: EventDelivery,
  known: CellLeaf | undefined,
  creates: boolean,
): CellLeaf | Unreachable {
  if (known?.live === true) return known.failed === null ? known : 'cell_failed';
  if (!creates) return 'cell_absent';
  return {
    inc: known === undefined ? 0 : known.inc + 1,
    live: true,
    n: 0,
    ord: known?.ord ?? 0, // goes on: an address never names two plans, whatever the generation
    failed: null,
    ...parentage(fold, delivery.from),
    plans: [],
    timers: {},
    logs: [],
    state: {},
  };
}

/** The maker of a cell and its generation: the rights of a later generation do not apply to the child. */
function parentage(fold: FrameFold, from: Sender): Pick<CellLeaf, 'parent' | 'pinc'> {
  if (from === null) return { parent: null };
  const parent: Address = [from[0], from[1]];
  const inc = fold.overlay.get(cellKey(parent))?.inc ?? 0;
  return inc === 0 ? { parent } : { parent, pinc: inc };
}

/** A delivery that ended well, before it takes place. */
interface Reduced {
  readonly context: CellContext;
  readonly cell: CellLeaf;
  readonly logs: readonly (readonly [LeafKey<LogLeaf>, LogLeaf])[];
  readonly timersBefore: Readonly<Record<string, number>>;
}

/** The cell that an event reaches, and the definitions that answer for both. */
interface Receiving {
  readonly reducer: ReducerDefinition;
  readonly event: EventDefinition;
  readonly cell: CellLeaf;
}

function reduceCell(fold: FrameFold, delivery: EventDelivery, { reducer, event: declared, cell }: Receiving): Reduced {
  const outside = { adapter: adaptingPlan(fold, delivery), actor: askingActor(fold, delivery) };
  const context = new CellContext(fold, reducer, cell, { ...delivery, ...outside });
  const row = requireDeclaredSender(declared, { fold, delivery, cell, tables: context.tables });
  const given = { name: delivery.event.name, value: copyValue(delivery.event.value) };
  const event = row === undefined ? given : { ...given, row: row.value };
  if (row !== undefined) context.rowKey = row.key;
  // The cell counts as new while it has no delivery behind it; a fault in its first leaves nothing.
  const draft = cell.n === 0 ? firstState(reducer, delivery) : copyNormal(presentState(reducer, delivery.to, cell));
  const returned = runPure(() => reducer.reduce(draft, event, context));
  if (fold.overlay.missed !== undefined) throw fold.overlay.missed;
  context.close();
  if (returned !== undefined) {
    throw new Fault(
      'returned_a_value',
      `${reducer.name} returned something; a recipe writes its draft and returns nothing`,
    );
  }
  fold.afford(context);
  const after = cellAfter(reducer, delivery, cell, context, draft as CellState);
  const next = nextCell(reducer, cell.state, after) ?? normalCell(reducer, after);
  return { context, cell: next, logs: openLogs(context), timersBefore: cell.timers };
}

/** The cell as it will be, with its draft as its state: all else is in normal form. */
function cellAfter(
  reducer: ReducerDefinition,
  { to }: EventDelivery,
  cell: CellLeaf,
  context: CellContext,
  state: CellState,
): CellLeaf {
  const { heads } = context.tables;
  return {
    ...(cell.v === undefined ? cell : unsigned(cell)),
    ...signature(reducer, to),
    ...context.planning,
    n: cell.n + 1,
    timers: context.timers,
    logs: withNames(cell.logs, context.logs),
    ...(heads === undefined ? {} : { tables: heads }),
    state,
  };
}

function unsigned({ v: _signed, ...cell }: CellLeaf): CellLeaf {
  return cell;
}

/** The names of logs with those that were opened. */
function withNames(names: readonly string[], opened: ReadonlyMap<string, unknown>): readonly string[] {
  if ([...opened.keys()].every((name) => names.includes(name))) return names;
  return [...new Set([...names, ...opened.keys()])].sort((a, b) => (a < b ? -1 : 1));
}

/** The plan for which an adapter sent the request that is delivered. The gate has found its effect open. */
function adaptingPlan(fold: FrameFold, { root }: EventDelivery): PlanAddress | null {
  const { ingress } = fold;
  const id = root && ingress.kind === 'request' ? effectBehind(ingress.principal) : undefined;
  return (id === undefined ? undefined : fold.overlay.get(effectKey(id))?.plan) ?? null;
}

/** Who sent the request that is delivered; null for what comes from inside. */
function askingActor({ ingress }: FrameFold, { root }: EventDelivery): Actor | null {
  return root && ingress.kind === 'request' ? actorOf(ingress.principal as Principal, ingress.actor) : null;
}

function openLogs(context: CellContext): [LeafKey<LogLeaf>, LogLeaf][] {
  return [...context.logs].map(([name, log]) => [logKey(context.address, name), log.leaf]);
}

function firstState(reducer: ReducerDefinition, { to, event }: EventDelivery): Value {
  const made = runPure(() => reducer.init(to[1], { name: event.name, value: copyValue(event.value) }));
  return normalGiven(made).value;
}

/** The cell in normal form, a copy: what the recipe kept of its draft, or put into it, can no longer change it. */
function normalCell(reducer: ReducerDefinition, cell: CellLeaf): CellLeaf {
  const { value, bytes } = fittingCell(cell);
  const given = value as unknown as CellLeaf;
  const state = fittedState(reducer, given.state) as CellState;
  if (state !== given.state) return fittingCell({ ...given, state }).value as unknown as CellLeaf; // a default filled a field in
  rememberState(reducer, state, bytes);
  return given;
}

function fittingCell(cell: CellLeaf): NormalValue {
  let normal: NormalValue;
  try {
    normal = normalValue(cell);
  } catch (error) {
    raiseExhaustion(error);
    throw new Fault('value_invalid', error instanceof Error ? error.message : 'state is not canonical', error);
  }
  if (normal.bytes <= LEAF_BYTES_MAX) return normal;
  const fit = `at most ${LEAF_BYTES_MAX} fit. Keep growing data in a log`;
  throw new Fault('state_too_large', `${normal.bytes} bytes of state; ${fit}`);
}

function takePlace(fold: FrameFold, delivery: EventDelivery, done: Reduced): void {
  const { context, cell } = done;
  fold.overlay.set(cellKey(delivery.to), cell);
  fold.staged.push(...context.staged);
  fold.spend(context.valueBytes);
  for (const [key, leaf] of done.logs) fold.overlay.set(key, leaf);
  context.tables.takePlace();
  moveTimers(fold, delivery.to, done.timersBefore, cell.timers);
  if (delivery.failure !== undefined) keepOpen(fold, delivery, delivery.failure);
  for (const output of context.outputs) release(fold, delivery, cell, output);
  if (delivery.reply && delivery.quiet !== true && delivery.from !== null) {
    notify(fold, [delivery.from[0], delivery.from[1]], 'sys/Reply@1', replyTo(delivery, 'accepted'), delivery.cause);
  }
  if (context.ended) endCell(fold, delivery.to, cell, delivery.cause);
}

function release(fold: FrameFold, delivery: EventDelivery, cell: CellLeaf, output: CellOutput): void {
  const c = delivery.cause;
  const [reducer, key] = delivery.to;
  switch (output.type) {
    case 'send': {
      const verdict = gateSend(fold, delivery.to, output.to, output.name);
      const event = { name: output.name, value: output.value };
      if (!verdict.allow) {
        return refuseSend(fold, { from: delivery.to, to: output.to, event, ...output.answer, cause: c }, verdict);
      }
      const cause = fold.push({ kind: 'event', c, to: output.to, event, from: delivery.to });
      fold.enqueue({
        kind: 'event',
        to: output.to,
        event,
        from: delivery.to,
        cause,
        ...output.answer,
        bytes: output.bytes,
        notice: false,
        root: false,
        ...(verdict.making === true ? { making: true } : {}),
      });
      return;
    }
    case 'forget':
      return output.tag === undefined ? forgetAll(fold, delivery.to) : forget(fold, delivery.to, output.tag);
    case 'fact':
      fold.push({ kind: 'fact', c, from: delivery.to, name: output.name, value: output.value });
      return;
    case 'intent': {
      const plan = [reducer, key, output.ordinal] as [string, string, number];
      const cause = fold.push({ kind: 'intent', c, plan, name: output.plan.name, input: output.input });
      fold.overlay.set(planKey(plan), newPlan(output.plan.name, cell.inc, output.input));
      fold.enqueue({ kind: 'plan', plan, cause, bytes: output.bytes });
      return;
    }
    case 'cancel':
      cancelPlan(fold, [reducer, key, output.ordinal], c, cancelledBy(delivery.to, output.actor));
      return;
    case 'stop':
      return stopPlan(fold, [reducer, key, output.ordinal], c, output.graceMs);
    case 'command':
      return command(fold, delivery, output);
    default:
      output satisfies never;
  }
}

/** Who cancelled: the cell, for the actor that it names; nobody is named where it names none. */
function cancelledBy(cell: Address, actor: Actor | undefined): DecidedBy | undefined {
  return actor === undefined ? undefined : { by: holderOf(cell), actor };
}

/** The gate refused an event: this is recorded, and its sender gets the same notice as for an absent cell. */
function refuseSend(
  fold: FrameFold,
  sent: Pick<EventDelivery, 'to' | 'event' | 'from' | 'reply' | 'tag' | 'cause'>,
  { code, rule }: Refused,
): void {
  if (sent.from === null) return; // the outside is refused by a refusal
  const { to, reply, cause: c } = sent;
  const from: Address = [sent.from[0], sent.from[1]];
  const event = sent.event.name;
  const cause = fold.push({ kind: 'denial', c, who: holderOf(from), what: sendText(to, event), code, rule });
  if (reply) notify(fold, from, 'sys/Reply@1', replyTo(sent, 'rejected', code), cause);
  else notify(fold, from, 'sys/Undeliverable@1', { to, event, code: 'denied' }, cause);
}

/** The answer to an event, as its sender is told it. */
function replyTo(
  { to, event, tag }: Pick<EventDelivery, 'to' | 'event' | 'tag'>,
  outcome: 'accepted' | 'rejected',
  code?: string,
): Value {
  return {
    to,
    event: event.name,
    outcome,
    ...(code === undefined ? {} : { code }),
    ...(tag === undefined ? {} : { tag }),
  };
}

/** A command of a cell: a refusal becomes a record and a notice, and undoes nothing of the delivery. */
function command(
  fold: FrameFold,
  { to: from, cause }: EventDelivery,
  { command: asked, tag }: Extract<CellOutput, { type: 'command' }>,
): void {
  const who = holderOf(from);
  const c = fold.push({ kind: 'cell_command', c: cause, from, command: asked });
  try {
    applyCommand(fold, asked, { who, cause: c });
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const code = `${thrown.code === 'policy_denied' ? 'policy_denied' : 'cap_denied'}/${thrown.code}` as const;
    const cause = fold.push({ kind: 'denial', c, who, what: asked.name, code, rule: null });
    const value = { command: asked.name, code: thrown.code, ...(tag === undefined ? {} : { tag }) };
    notify(fold, from, 'sys/CommandRefused@1', value, cause);
  }
}

/** A plan instance that has not run yet. */
export function newPlan(name: string, inc: number, input: Value): PlanLeaf {
  return { name, inc, input, started: null, resumptions: [], wait: null, inbox: [], emissions: 0, open: [] };
}

function moveTimers(
  fold: FrameFold,
  cell: Address,
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): void {
  for (const [name, due] of Object.entries(before)) {
    if (after[name] !== due) fold.overlay.set(timerKey(due, cell, -1, name), undefined);
  }
  for (const [name, due] of Object.entries(after)) {
    if (before[name] !== due) fold.overlay.set(timerKey(due, cell, -1, name), { due });
  }
}

function endCell(fold: FrameFold, address: Address, cell: CellLeaf, cause: number): void {
  for (const ordinal of cell.plans) cancelPlan(fold, [address[0], address[1], ordinal], cause);
  for (const log of cell.logs) fold.overlay.set(logKey(address, log), undefined);
  moveTimers(fold, address, cell.timers, {});
  forgetAll(fold, address);
  const { tables = {}, asks: _asks, ...rest } = cell;
  for (const [table, { root }] of Object.entries(tables)) {
    if (root !== 0) fold.enqueue({ kind: 'sweep', cell: address, table, inc: cell.inc, nodes: [root] });
  }
  const gone: CellLeaf = {
    ...rest,
    live: false,
    n: 0,
    plans: [],
    timers: {},
    logs: [],
    state: {},
  };
  fold.overlay.set(cellKey(address), gone);
  tellAskers(fold, address, 'cell_absent', { cause });
  // Only cells that take the notice ever settle effects; the others are spared the search.
  if (reducerFor(fold.env.app, address[0])?.events.has('sys/EffectOpened@1'))
    abandonBySettler(fold, address, 'no_settler', cause);
}

function unreachable(fold: FrameFold, delivery: EventDelivery, code: Unreachable): void {
  if (delivery.root) throw refusalFor(fold, delivery, code);
  answer(fold, delivery, code);
}

function refusalFor(fold: FrameFold, delivery: EventDelivery, code: Unreachable): Refusal {
  const where = formatAddress(delivery.to);
  const event = delivery.event.name;
  const what: Record<Unreachable, [ErrorCode, string]> = {
    cell_absent: ['cell_absent', `${where} does not exist and ${event} does not create it`],
    cell_failed: ['cell_failed', `${where} has failed and takes no events until it is revived`],
    unknown_reducer: ['unknown_reducer', `the app has no reducer ${delivery.to[0]}`],
    event_invalid: ['unknown_event', `${delivery.to[0]} takes no event ${event}`],
  };
  const failed = code === 'cell_failed' ? fold.overlay.get(failedKey(delivery.to)) : undefined;
  return new Refusal(...what[code], failed === undefined ? { where } : detailsOfFailure(delivery.to, failed));
}

/** Tells the sender that its event did not take place. */
function answer(fold: FrameFold, delivery: EventDelivery, code: Unreachable | 'faulted'): void {
  const { to, from, cause } = delivery;
  const event = delivery.event.name;
  if (delivery.notice || from === null) {
    fold.push({ kind: 'fact', c: cause, from: to, name: 'sys/Undeliverable@1', value: { to, event, code } });
    return;
  }
  const sender: Address = [from[0], from[1]];
  if (delivery.reply) notify(fold, sender, 'sys/Reply@1', replyTo(delivery, 'rejected', code), cause);
  else notify(fold, sender, 'sys/Undeliverable@1', { to, event, code }, cause);
}

function reject(fold: FrameFold, delivery: EventDelivery, code: string): void {
  const { to, from, cause } = delivery;
  if (delivery.root) {
    throw new Refusal('request_rejected', `${formatAddress(to)} rejected ${delivery.event.name}: ${code}`, {
      reason: code,
    });
  }
  const value = replyTo(delivery, 'rejected', code);
  if (delivery.reply && from !== null) notify(fold, [from[0], from[1]], 'sys/Reply@1', value, cause);
  else fold.push({ kind: 'fact', c: cause, from: to, name: 'sys/Reply@1', value });
}

/** A delivery broke a rule: none of it takes place, the cell is failed and its plans end. */
function failCell(fold: FrameFold, delivery: EventDelivery, before: CellLeaf | undefined, fault: Fault): void {
  if (delivery.root) {
    throw new Refusal(fault.code === 'nondeterminism' ? 'nondeterminism' : 'delivery_faulted', fault.detail, {
      where: formatAddress(delivery.to),
      fault: fault.code,
      ...(fault.cause === undefined ? {} : { cause: fault.cause }),
    });
  }
  const cause = fold.push({ kind: 'fault', c: delivery.cause, target: delivery.to, code: fault.code });
  fold.faulted.push({ target: delivery.to, name: delivery.event.name, ...thrownBy(fault) });
  markFailed(fold, delivery, before, fault.code, cause);
  answer(fold, { ...delivery, cause }, 'faulted');
}

/** Marks a cell failed as it was before the delivery; a cell that was never made stays absent. */
function markFailed(
  fold: FrameFold,
  { to: address, event }: EventDelivery,
  before: CellLeaf | undefined,
  code: FaultCode,
  cause: number,
): void {
  if (before?.live !== true) return;
  const failed: CellLeaf = { ...before, failed: code, plans: [] };
  fold.overlay.set(cellKey(address), failed);
  for (const ordinal of before.plans) cancelPlan(fold, [address[0], address[1], ordinal], cause);
  const runaway = code === 'cascade_exceeded';
  const asked = tellAskers(fold, address, 'cell_failed', { cause, runaway });
  const waiting = asked + abandonBySettler(fold, address, 'cell_failed', cause);
  const { seq, at } = fold.ingress;
  fold.overlay.set(failedKey(address), { code, seq, at, event: event.name, waiting });
  tellMaker(fold, address, failed, cause);
}

/** Replaces an event that the cascade's bound cut off: a fault, no notice, and a failed cell. */
export function exceedEvent(fold: FrameFold, delivery: EventDelivery): void {
  const cause = fold.push({ kind: 'fault', c: delivery.cause, target: delivery.to, code: 'cascade_exceeded' });
  markFailed(fold, delivery, fold.overlay.get(cellKey(delivery.to)), 'cascade_exceeded', cause);
}
