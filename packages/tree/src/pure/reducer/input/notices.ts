/** What sessions and the kernel tell a tree about runs. */
import type { ChildNotice } from '@reprise/agent/contracts';
import { allRows, type EventValue } from '@reprise/kernel/define';
import { key, LOST, takePurpose } from '@reprise/org/contracts';
import { type Carried, type NodeRow, type treeNews, WORDS_KEY } from '../../contracts/index.js';
import { askTimer } from '../ask/asker.js';
import { closeAsk, defaultOf } from '../ask/outcome.js';
import { questionComposed } from '../ask/route.js';
import { asksOf } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { AFTER_TIMER } from '../delivery/drafts.js';
import { isEnded } from '../delivery/nodes.js';
import { countUse } from '../delivery/spending.js';
import { moveRun, steer } from '../node/runs.js';
import { INPUT_TAG, launchComposed } from '../run/launch.js';
import { endAfterResult, resultChecked } from '../run/results.js';
import { answeringEnded, failAttempt, runEnded, runIsOver, runUsed } from '../run/run-end.js';
import { appRefused } from './app-calls.js';
import { supplied } from './start.js';

/** The pressure levels of which a node is warned, in percent. */
const WARNED_AT = [80, 95];

export function childNews(delivery: Delivery, row: NodeRow, { run, news }: ChildNotice, session: string): void {
  if (session !== row.session || run !== row.runs - 1 || row.run === 'none' || row.run === 'checking') {
    if (news.kind === 'settled') runUsed(delivery, row, news);
    if (news.kind !== 'closed') late(delivery, row, `session.${news.kind}`);
    return;
  }
  switch (news.kind) {
    case 'settled':
      return runEnded(delivery, row, news);
    case 'waiting':
      if (row.run === 'live' && givesUpSlot(delivery, row, news.for, session)) moveRun(delivery, row, 'waiting');
      return;
    case 'running':
      if (row.run === 'waiting') moveRun(delivery, row, 'live');
      return;
    case 'pressure':
      if (news.of === 'budget' && WARNED_AT.includes(news.level)) warn(delivery, row, news.level);
      return;
    default:
      return;
  }
}

/**
 * Whether a run that waits gives up its slot. Children of the session work meanwhile: their run keeps it. A run that waits for
 * answers of the tree gives it up while one is to come: after a pause it tells of a wait whose answer is on the way already,
 * and in its slot another node would begin, beyond the parallel runs of the tree.
 */
function givesUpSlot(delivery: Delivery, { n }: NodeRow, what: string, session: string): boolean {
  if (what !== 'owner') return what !== 'children';
  if (asksOf(delivery, n).some(([, { call }]) => call !== null)) return true;
  return [...allRows(delivery.ctx.table('passed'))].some(([, call]) => call.session === session);
}

function late({ ctx }: Delivery, { n, launch }: NodeRow, what: string): void {
  ctx.record('tree/Late@1', { n, what, launch });
}

function warn(delivery: Delivery, row: NodeRow, level: number): void {
  const words = delivery.ctx.table('words').get(WORDS_KEY);
  if (isEnded(row) || words === undefined) return;
  steer(delivery, row, `budget.${level}.${row.launch}`, level === 95 ? words.budget_95_ref : words.budget_80_ref);
}

/** A session that has failed as a cell takes no more events: the node gets another one. */
export function childFailed(delivery: Delivery, session: string): void {
  const n = delivery.ctx.table('sessions').get(session);
  const row = n === undefined ? undefined : delivery.nodes.change(n);
  if (row === undefined || row.session !== session) return;
  row.session = null;
  if (hasRun(row)) countUse(delivery, row, null, LOST);
  runLost(delivery, row, 'session_failed');
}

/** The session refused the input of a launch. */
export function inputRefused(delivery: Delivery, tag: string, code: string): void {
  if (appRefused(delivery, tag, code)) return;
  const [what, n, launch] = tag.split('.');
  if (what !== INPUT_TAG) return;
  const row = delivery.nodes.change(Number(n));
  if (row.launch !== Number(launch) || row.session === null) return;
  row.session = null;
  runLost(delivery, row, `session/${code}`.slice(0, 96));
}

function hasRun({ run }: NodeRow): boolean {
  return run === 'live' || run === 'waiting' || run === 'draining';
}

/** A run of which nothing more will be heard. */
function runLost(delivery: Delivery, row: NodeRow, code: string): void {
  if (!hasRun(row)) return;
  runIsOver(delivery, row);
  if (isEnded(row)) return;
  if (row.answering) answeringEnded(delivery, row);
  else failAttempt(delivery, row, code);
}

/** A plan of the tree ended in error: the same as news of it without what it was for. */
export function planFailed(delivery: Delivery, plan: number, code: string): void {
  const purpose = takePurpose(delivery.ctx.table('plans'), plan);
  const failed = `plan/${code}`.slice(0, 96);
  switch (purpose?.of) {
    case 'agents':
      return supplied(delivery, { supplies: null, code: failed });
    case 'prompt':
      return launchComposed(delivery, { ...purpose, text_ref: null, code: failed, carries: NOTHING });
    case 'check':
      return resultChecked(delivery, { ...purpose, given: null, problems_ref: null, code: failed });
    case 'question':
      return questionComposed(delivery, { ...purpose, text_ref: null });
    case 'people':
      return peopleAnswered(delivery, { ...purpose, text_ref: null, by: null, late: true });
    default:
      return;
  }
}

const NOTHING: Carried = { inputs: [], answers: [], questions: [], told: [] };

/** Takes a timer: of runs that continue after their result, or of a question. */
export function timerFired(delivery: Delivery, name: string): void {
  if (name === AFTER_TIMER) endAfterResult(delivery);
  else askTimer(delivery, name);
}

/** People answered a question, or can no longer be asked. */
export function peopleAnswered(
  delivery: Delivery,
  { ask: n, text_ref, by }: EventValue<typeof treeNews, 'tree/PeopleAnswered@1'>,
): void {
  const row = delivery.ctx.table('asks').get(key(n));
  if (row === undefined || row.outcome !== null) return;
  const isAnswered = text_ref !== null && by !== null;
  closeAsk(delivery, n, isAnswered ? { how: 'answered', by, picked: null, text_ref } : defaultOf(row));
}
