/**
 * Wakes the coordinator for results and for decisions: by a timer, when it is idle, and never by looking again and again.
 */
import { allRows, type EventValue } from '@reprise/kernel/define';
import {
  type ComposedItem,
  type ComposedSection,
  key,
  startFor,
  told,
  toldItem,
  toldLines,
} from '@reprise/org/contracts';
import {
  INPUT_PRIORITY,
  PROJECT_BOUNDS,
  type ProjectState,
  type projectNews,
  type RecordedResult,
  type RecordedTask,
  SHOWN_MAX,
  WAKE_AFTER_MS,
} from '../../contracts/index.js';
import { wakePlan } from '../../plans/plans.js';
import { changeResult, type Delivery, resultOr } from '../project/delivery.js';
import { isSpent } from '../project/spending.js';
import { countAnew, isUnattended, tasksNeedDecision, waitsForCoordinator } from '../project/status.js';
import { beginReading } from '../project/team.js';
import { isIdle, tellCoordinator } from './coordinator.js';

export const WAKE = 'wake';

/**
 * The timer behind that of a wake. It fires only when the first was put aside: the kernel quarantines a timer that killed
 * the processes which folded it, and tells no cell of that.
 */
export const WAKE_LOST = 'wake_lost';

/** Sets the timer when something waits for the coordinator, and nothing of it is under way. */
export function scheduleWake(delivery: Delivery): void {
  const { state, ctx } = delivery;
  const { wake } = state;
  if (wake.phase === 'due') return setAgain(delivery);
  if (wake.phase !== 'none' || state.status === 'cancelled' || !isIdle(delivery) || !hasNews(delivery)) return;
  wake.phase = 'due';
  setTimers(delivery, ctx.now + WAKE_AFTER_MS);
}

function setTimers({ state: { wake }, ctx }: Delivery, due: number): void {
  wake.due = due;
  ctx.timer(WAKE, due);
  ctx.timer(WAKE_LOST, due + 1);
}

/** No wake is due any more. */
export function clearWakeTimers({ ctx }: Pick<Delivery, 'ctx'>): void {
  ctx.clearTimer(WAKE);
  ctx.clearTimer(WAKE_LOST);
}

/** An event comes before a wake that is overdue, since the process was down, or the timer was put aside. */
function setAgain(delivery: Delivery): void {
  const { due } = delivery.state.wake;
  if (due !== null && due < delivery.ctx.now) setTimers(delivery, delivery.ctx.now);
}

function hasNews(delivery: Delivery): boolean {
  return !isSpent(delivery) && !isUnattended(delivery) && waitsForCoordinator(delivery);
}

/** The timer has fired: composes what the coordinator is told. When it is busy, the end of its run sets the timer anew. */
export function wakeDue(delivery: Delivery): void {
  const { state, ctx } = delivery;
  if (state.wake.phase === 'due') ctx.clearTimer(WAKE_LOST);
  const results = beginWake(delivery);
  if (results === undefined) return;
  const input = {
    ...{ epoch: state.wake.epoch, results, ...beginReading(delivery) },
    sections: [...resultSections(delivery, results), ...readySection(delivery), ...decisionSection(delivery)],
  };
  startFor(ctx, ctx.table('plans'), { plan: wakePlan, input }, { kind: 'wake', reading: input.id, results });
}

/** Another wake begins, when one is due and there is something to tell. @returns the results that it shows */
function beginWake(delivery: Delivery): number[] | undefined {
  const { state } = delivery;
  const { wake } = state;
  if (wake.phase !== 'due') return undefined;
  wake.phase = 'none';
  wake.due = null;
  if (!isIdle(delivery) || !hasNews(delivery)) return undefined;
  wake.phase = 'composing';
  wake.epoch++;
  wake.decides = state.decision !== 'shown' && tasksNeedDecision(delivery);
  if (wake.decides) state.decision = 'shown';
  return waitingResults(delivery);
}

/** The timer was put aside. That counts as shown in vain, so it is not tried without end, and a person hears of it. */
export function wakeLost(delivery: Delivery): void {
  const results = beginWake(delivery);
  if (results !== undefined) notWoken(delivery, results, 'exhausted');
}

/** The results that wait, the oldest first; those that wait for a person are left out. */
function waitingResults(delivery: Delivery): number[] {
  const stuck = delivery.ctx.table('stuck');
  const found: number[] = [];
  for (const [at] of allRows(delivery.ctx.table('unprocessed'))) {
    if (stuck.get(at) === null) continue;
    found.push(Number(at));
    if (found.length === PROJECT_BOUNDS.shown) return found;
  }
  return found;
}

/** What the coordinator is told about results: never more than a summary of each (SPEC-7). */
function resultSections(delivery: Delivery, results: readonly number[]): ComposedSection[] {
  if (results.length === 0) return [];
  const items = results.flatMap((n) => resultItems(n, resultOr(delivery, n)));
  return [{ title: 'Results', items }];
}

/** A result as a line of the project and, when there is an output, its summary as data. */
export function resultItems(n: number, row: RecordedResult): ComposedItem[] {
  const { task, title, skill, status, code, output_ref } = row;
  const work = task === null ? told`"${title}"` : told`task ${task}, "${title}"`;
  const why = code === null ? told`` : told` (${code})`;
  const own = toldItem(told`Result ${n}: ${work}, by ${skill}: ${status}${why}`);
  if (output_ref === null) return [own];
  return [own, { label: `agent_result:${n}`, ref: output_ref, kind: 'llm_output', view: 'summary' }];
}

/**
 * The tasks that wait for the coordinator to hand them out: a coordinator that reads only the results would leave them, and the
 * project would stay open.
 */
function readySection(delivery: Delivery): ComposedSection[] {
  const { pending } = delivery.state.counts;
  if (pending === 0 || delivery.ctx.table('team').get('team')?.dispatch === 'auto') return [];
  const named = tasksThatAre(delivery, ['pending']);
  const lines = named.map(([n, { title, skill }]) => told`- task ${n}, "${title}", for ${skill}`);
  const more = pending > named.length ? [told`and ${pending - named.length} more: task_graph names them`] : [];
  const asked = told`These tasks are ready, and begin when you hand them out with spawn_agent:`;
  return [{ title: 'Ready tasks', items: [toldItem(toldLines([asked, ...lines, ...more]))] }];
}

function decisionSection(delivery: Delivery): ComposedSection[] {
  if (!delivery.state.wake.decides) return [];
  const lines = undecided(delivery).map(([n, { title, status, failure }]) => {
    return told`- task ${n}, "${title}": ${status}${failure === null ? told`` : told` (${failure})`}`;
  });
  const asked = told`Nothing more can be done without a decision: try tasks again, skip or cancel them, or ask the user.`;
  return [{ title: 'A decision is needed', items: [toldItem(toldLines([asked, ...lines]))] }];
}

/** States that tasks cannot go on by themselves, once for each such state (SPEC-24). */
export function stateDecision(delivery: Delivery): void {
  const { state, ctx } = delivery;
  if (state.decision !== 'none' || !tasksNeedDecision(delivery)) return;
  state.decision = 'stated';
  const tasks = undecided(delivery).map(([n]) => n);
  ctx.record('specialists/DecisionNeeded@1', { why: 'tasks', code: null, tasks });
}

/** States that the project as a whole cannot go on without a person, once for each such state (SPEC-24). */
export function stateNeed({ state, ctx }: Delivery, before: ProjectState['needs']): void {
  const { needs: why, coordinator } = state;
  if (why === null || why === 'tasks' || why === before) return;
  const code = why === 'coordinator' ? coordinator.failure : null;
  ctx.record('specialists/DecisionNeeded@1', { why, code, tasks: [] });
}

/** Tasks that failed or are blocked, as many as are named. */
function undecided(delivery: Delivery): [number, RecordedTask][] {
  return tasksThatAre(delivery, ['failed', 'blocked']);
}

function tasksThatAre(delivery: Delivery, statuses: readonly RecordedTask['status'][]): [number, RecordedTask][] {
  const found: [number, RecordedTask][] = [];
  for (const [at, row] of allRows(delivery.ctx.table('tasks'))) {
    if (!statuses.includes(row.status)) continue;
    found.push([Number(at), row]);
    if (found.length === NAMED_MAX) return found;
  }
  return found;
}

/** How many tasks a wake, or the need of a decision, names. */
const NAMED_MAX = 12;

type Composed = EventValue<typeof projectNews, 'specialists/WakeComposed@1'>;

/** The text was composed. Words of people that came meanwhile go first (SPEC-27). */
export function wakeComposed(delivery: Delivery, { epoch, results, text_ref, code }: Composed): void {
  const { state, ctx } = delivery;
  const { wake } = state;
  if (wake.phase !== 'composing' || wake.epoch !== epoch) return;
  if (text_ref === null) return notWoken(delivery, results, code ?? 'not_composed');
  wake.phase = 'none';
  if (!isIdle(delivery) || delivery.ctx.table('inbox').size > 0) return tellAgain(delivery);
  wake.phase = 'shown';
  wake.results = results;
  wake.unattended++;
  ctx.record('specialists/CoordinatorWoken@1', { epoch, results });
  tellCoordinator(delivery, {
    command_id: `wake/${epoch}`,
    parts: [{ kind: 'text', text_ref }],
    priority: INPUT_PRIORITY.results,
    reason: 'results',
  });
}

/** The coordinator could not be told of results: that counts as shown in vain, so it is not tried without end. */
export function notWoken(delivery: Delivery, results: readonly number[], code: string): void {
  const { wake } = delivery.state;
  if (wake.phase !== 'composing') return;
  wake.phase = 'none';
  delivery.ctx.record('specialists/NotWoken@1', { epoch: wake.epoch, code });
  countVain(delivery, results);
}

/** The run that was shown results has ended: they are processed when it completed. */
export function wakeEnded(delivery: Delivery, isCompleted: boolean): void {
  const { state, ctx } = delivery;
  const { results } = state.wake;
  state.wake.phase = 'none';
  state.wake.results = [];
  if (!isCompleted) return countVain(delivery, results);
  state.wake.decides = false;
  state.wake.vain = 0;
  if (results.length === 0) return;
  for (const n of results) {
    changeResult(delivery, n, { processed_at: ctx.now });
    delivery.ctx.table('unprocessed').delete(key(n));
    delivery.ctx.table('stuck').delete(key(n));
    state.unprocessed--;
  }
  ctx.record('specialists/ResultProcessed@1', { results });
}

/** What was shown in vain is shown again, up to a bound. */
function countVain(delivery: Delivery, results: readonly number[]): void {
  countShown(delivery, results);
  const { wake } = delivery.state;
  if (!wake.decides) return;
  if (++wake.vain < SHOWN_MAX) tellAgain(delivery);
  else wake.decides = false;
}

/** The plan that composed is gone, and a timer may have fired in vain: both begin anew, and neither counts. */
export function wakeAgain(delivery: Delivery): void {
  const { wake } = delivery.state;
  if (wake.phase === 'due') setTimers(delivery, delivery.ctx.now);
  if (wake.phase !== 'composing') return;
  wake.phase = 'none';
  tellAgain(delivery);
}

/** The coordinator has not heard that a decision is needed: the next wake tells it. */
function tellAgain({ state }: Delivery): void {
  if (state.wake.decides && state.decision === 'shown') state.decision = 'stated';
  state.wake.decides = false;
}

function countShown(delivery: Delivery, results: readonly number[]): void {
  for (const n of results) {
    const { shown } = changeResult(delivery, n, { shown: resultOr(delivery, n).shown + 1 });
    if (shown < SHOWN_MAX) continue;
    delivery.ctx.table('stuck').set(key(n), null);
    delivery.state.stuck++;
  }
}

/** A person speaks: what was shown in vain may be shown again. */
export function unstick(delivery: Delivery): void {
  const stuck = delivery.ctx.table('stuck');
  for (let first = stuck.first(); first !== undefined; first = stuck.first()) {
    stuck.delete(first[0]);
    changeResult(delivery, Number(first[0]), { shown: 0 });
  }
  const { state } = delivery;
  state.stuck = 0;
  if (state.wake.vain >= SHOWN_MAX && state.decision === 'shown') state.decision = 'stated';
  state.wake.vain = 0;
  state.coordinator.failure = null;
  countAnew(delivery);
}
