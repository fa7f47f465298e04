/**
 * The tasks of a swarm: each is work that a member is asked for, and reported complete once (SOC-19). The member's entity
 * has it done as a job.
 */

import type * as z from '@reprise/contracts/schema';
import { allRows } from '@reprise/kernel/define';
import { beginInLine, firstOf, giveBack, JOB_ENDED, key, LOST } from '@reprise/org/contracts';
import { entityAt, groupAt } from '../../contracts/cell/names.js';
import type { News, SwarmRow } from '../../contracts/entity-parts.js';
import type { memberWorked, SwarmState, SwarmTask } from '../../contracts/swarm/swarm.js';
import { type Replied, refusedTo } from '../call/replies.js';
import { changeMember, failing, hasEnded, isOver, memberOr, type SwarmContext, slotsOf, taskOr } from './context.js';
import { codeOfFailed, isShort, mayBegin, settleShare, takeShare } from './spending.js';

type Worked = z.infer<typeof memberWorked>;

/** Adds a task of a member. @returns its number */
export function addTask(draft: SwarmState, member: string, task_ref: SwarmTask['task_ref'], ctx: SwarmContext): number {
  const n = draft.tasks.next++;
  const agent_id = memberOr(ctx, member).agent_id ?? ctx.reject('no_member');
  draft.tasks.open++;
  ctx.table('tasks').set(key(n), {
    ...{ member, agent_id, task_ref, status: 'waiting', attempt: 1, input: null },
    ...{ output_ref: null, report_ref: null, code: null },
    tally: { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 },
    share: null,
  });
  changeMember(ctx, member, { task: n, progress: 0 });
  return n;
}

/** Begins a task. With input `none`, nothing is there for it to work on: it is skipped. */
export function startTask(draft: SwarmState, n: number, input: SwarmTask['input'] | 'none', ctx: SwarmContext): void {
  const task = taskOr(ctx, n);
  if (task.status !== 'waiting') return;
  if (input === 'none') return endTask(draft, n, { ...task, status: 'skipped', code: 'input_failed' }, ctx);
  begin(draft, n, { ...task, input, status: 'queued' }, ctx);
}

/**
 * Asks for an attempt of a task, with its share of the budget. A task whose share others may give back waits for it in line;
 * where nothing is left, the swarm fails.
 *
 * @returns whether those behind it in line may begin
 */
function begin(draft: SwarmState, n: number, task: SwarmTask, ctx: SwarmContext): boolean {
  const line = ctx.table('line');
  setTask(n, task, ctx);
  const [first = key(n)] = line.first() ?? [];
  const share = first === key(n) ? takeShare(draft, task, ctx) : 'wait';
  if (share === 'wait') {
    setTask(n, { ...task, status: 'waiting' }, ctx);
    line.set(key(n), null);
    return false;
  }
  line.delete(key(n));
  if (typeof share === 'string') {
    failing(draft, 'budget_exhausted');
    endTask(draft, n, { ...task, status: 'skipped', code: 'budget_exhausted' }, ctx);
    return false;
  }
  const begun = { ...task, share };
  setTask(n, begun, ctx);
  ask(draft, n, begun, ctx);
  return true;
}

/** Begins the tasks that wait for their shares, as far as others have given theirs back. */
export function beginWaiting(draft: SwarmState, ctx: SwarmContext): void {
  const next = (at: string): boolean =>
    !draft.failing && begin(draft, Number(at), { ...taskOr(ctx, Number(at)), status: 'queued' }, ctx);
  beginInLine(ctx.table('line'), () => false, next);
}

function setTask(n: number, task: SwarmTask, ctx: SwarmContext): void {
  ctx.table('tasks').set(key(n), task);
}

/** Each attempt of a task is a work of its own. */
function workOf(n: number, attempt: number): number {
  return 2 * n + attempt - 2;
}

/** The work that a member was asked for and has not ended, as far as this swarm knows. */
export function workUnderWay({ task: n }: Pick<SwarmRow<'members'>, 'task'>, ctx: SwarmContext): number | undefined {
  const task = n === null ? undefined : ctx.table('tasks').get(key(n));
  if (n === null || task === undefined || task.status === 'waiting' || hasEnded(task)) return undefined;
  return workOf(n, task.attempt);
}

function ask(
  draft: SwarmState,
  n: number,
  { member, agent_id, task_ref, input, attempt, share }: SwarmTask,
  ctx: SwarmContext,
): void {
  const { slot, index } = memberOr(ctx, member);
  const { agent = slot } = slotsOf(ctx)[firstOf(member)] ?? ctx.reject('no_slot');
  const { goal_ref, strategy } = draft;
  const role = agent_id === draft.coordinator ? 'coordinator' : 'worker';
  const work: News<'society/Work@1'> = {
    ...{ n: workOf(n, attempt), swarm: ctx.address[1], slot, index, role, strategy, agent },
    ...{ goal_ref, task_ref, input, budget: share },
  };
  ctx.send(entityAt(agent_id), { name: 'society/Work@1', value: work }, refusedTo('work', `${work.n}`));
}

/** A member did not take its work: it was revoked meanwhile. */
export function workRefused(draft: SwarmState, about: string, { code }: Replied, ctx: SwarmContext): void {
  const work = Number(about);
  const n = taskOfWork(work);
  const task = ctx.table('tasks').get(key(n));
  if (task === undefined || hasEnded(task) || work !== workOf(n, task.attempt)) return;
  giveBack(draft, task.share); // it has used nothing
  taskFailed(draft, n, { ...task, status: 'failed', code: code.slice(0, 96), share: null }, false, ctx);
}

function taskOfWork(work: number): number {
  return Math.floor((work + 1) / 2);
}

/** A member tells of its work. What comes after the end of the task, or of an earlier attempt, is recorded only. */
export function worked(draft: SwarmState, member: string, news: Worked, ctx: SwarmContext): void {
  const n = taskOfWork(news.n);
  const task = taskOr(ctx, n);
  if (task.member !== member) ctx.reject('not_yours');
  if (isOver(draft) || hasEnded(task) || news.n !== workOf(n, task.attempt)) {
    const { status } = news;
    return ctx.record('society/LateReport@1', { swarm_id: ctx.address[1], agent_id: task.agent_id, n, status });
  }
  const { status, output_ref, code, tally } = news;
  const next: SwarmTask = { ...task, status, output_ref, code, tally };
  if (!JOB_ENDED.includes(status)) return setTask(n, next, ctx);
  settleShare(draft, next);
  const ended: SwarmTask = { ...next, share: null };
  if (status === 'ok') endTask(draft, n, ended, ctx);
  else taskFailed(draft, n, ended, true, ctx);
}

/** The cell of a member has failed: nothing tells of its task any more, and no other attempt would reach it. */
export function taskOfFailed(draft: SwarmState, member: string, ctx: SwarmContext): void {
  const { task: n } = memberOr(ctx, member);
  const task = n === null ? undefined : ctx.table('tasks').get(key(n));
  if (n === null || task === undefined || hasEnded(task) || isOver(draft)) return;
  settleShare(draft, task, LOST);
  taskFailed(draft, n, { ...task, status: 'failed', code: 'cell_failed', share: null }, false, ctx);
}

/** A task has failed: it is tried once more, the others go on, or the swarm fails. */
function taskFailed(draft: SwarmState, n: number, task: SwarmTask, mayRetry: boolean, ctx: SwarmContext): void {
  const isRetried = mayRetry && task.attempt === 1 && mayBegin(draft, ctx) && !isShort(draft, task);
  if (draft.on_failure === 'restart' && !draft.failing && isRetried) {
    begin(draft, n, { ...task, attempt: 2, status: 'queued', code: null, output_ref: null }, ctx);
    return;
  }
  endTask(draft, n, task, ctx);
  if (draft.on_failure === 'abort') failing(draft, codeOfFailed(draft, `member/${task.code ?? task.status}`, [task]));
}

/** Ends a task and tells of it once. What waits for it goes on when the delivery is followed. */
function endTask(draft: SwarmState, n: number, task: SwarmTask, ctx: SwarmContext): void {
  setTask(n, task, ctx);
  ctx.table('line').delete(key(n));
  draft.tasks.open--;
  const { agent_id, status, output_ref, report_ref } = task;
  const completed = { swarm_id: ctx.address[1], task: n, agent_id, status, result: report_ref ?? output_ref };
  ctx.record('society/TaskCompleted@1', completed);
  const payload = { swarm_id: ctx.address[1], agent_id, result: completed.result };
  ctx.send(groupAt(draft.group), {
    name: 'society/GroupNews@1',
    value: { event: 'swarm.task_complete', payload },
  });
  changeMember(ctx, task.member, { task: null });
  ctx.table('over').set(key(n), null);
}

/** Ends every task that has not ended: the swarm is over. */
export function cancelTasks(draft: SwarmState, ctx: SwarmContext): void {
  draft.reserved = 0;
  for (const [key, task] of allRows(ctx.table('tasks'))) {
    if (hasEnded(task)) continue;
    draft.tasks.open--;
    ctx.table('tasks').set(key, { ...task, status: 'cancelled', code: 'swarm_over', share: null });
    const completed = { swarm_id: ctx.address[1], task: Number(key), agent_id: task.agent_id, status: 'cancelled' };
    ctx.record('society/TaskCompleted@1', { ...completed, result: task.report_ref });
  }
}
