/** What sessions and the kernel tell a tree about runs. */
import type { ChildNotice } from '@reprise/agent/contracts';
import type { EventValue } from '@reprise/kernel/define';
import type { treeNews } from '../contracts/commands.js';
import { ENDED } from '../contracts/names.js';
import type { AskRow, NodeRow } from '../contracts/node.js';
import { WORDS_KEY } from '../contracts/tree.js';
import { appRefused } from './app-calls.js';
import { closeAsk, defaultOf } from './asks.js';
import { type Delivery, tableOf } from './delivery.js';
import { endNode } from './end-node.js';
import { key } from './keys.js';
import { INPUT_TAG, launchFailed } from './launch.js';
import { isEnded } from './nodes.js';
import { failAttempt, runEnded, runIsOver } from './run-end.js';
import { moveRun, steer } from './runs.js';
import { countUse } from './spending.js';

/** The pressure levels of which a node is warned, in percent. */
const WARNED_AT = [80, 95];

/** Takes the notice of a session. */
export function childNews(delivery: Delivery, row: NodeRow, { run, news }: ChildNotice, session: string): void {
  if (session !== row.session || run !== row.runs - 1 || row.run === 'none' || row.run === 'checking') {
    if (news.kind === 'settled') countUse(delivery, row, news);
    if (news.kind !== 'closed') late(delivery, row, `session.${news.kind}`);
    return;
  }
  switch (news.kind) {
    case 'settled':
      return runEnded(delivery, row, news);
    case 'waiting':
      // Children of the session work meanwhile: their run keeps its slot.
      if (row.run === 'live' && news.for !== 'children') moveRun(delivery, row, 'waiting');
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

function late({ ctx }: Delivery, { n, launch }: NodeRow, what: string): void {
  ctx.record('tree/Late@1', { n, what, launch });
}

function warn(delivery: Delivery, row: NodeRow, level: number): void {
  const words = tableOf(delivery, 'words').get(WORDS_KEY);
  if (ENDED.includes(row.status) || words === undefined) return;
  steer(delivery, row, `budget.${level}.${row.launch}`, level === 95 ? words.budget_95_ref : words.budget_80_ref);
}

/** A session that has failed as a cell takes no more events: the node gets another one. */
export function childFailed(delivery: Delivery, session: string): void {
  const n = tableOf(delivery, 'sessions').get(session);
  const row = n === undefined ? undefined : delivery.nodes.change(n);
  if (row === undefined || row.session !== session) return;
  row.session = null;
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

/** A run of which nothing more will be heard. */
function runLost(delivery: Delivery, row: NodeRow, code: string): void {
  if (row.run !== 'live' && row.run !== 'waiting' && row.run !== 'draining') return;
  const hasEnded = isEnded(row);
  if (hasEnded) runIsOver(delivery, row);
  else if (row.answering) launchFailed(delivery, row, code);
  else {
    runIsOver(delivery, row);
    failAttempt(delivery, row, code);
  }
}

/** A plan of the tree ended in error: what it was for has failed. */
export function planFailed(delivery: Delivery, plan: number, code: string): void {
  const failed = `plan/${code}`.slice(0, 96);
  const row = nodeOfPlan(delivery, plan);
  if (row !== undefined && row.type === 'serial') endNode(delivery, row.n, { status: 'failed', code: failed });
  else if (row !== undefined) launchFailed(delivery, row, failed);
  const ask = askOfPlan(delivery, plan);
  if (ask !== undefined) closeAsk(delivery, ask[0], defaultOf(ask[1]));
}

function nodeOfPlan(delivery: Delivery, plan: number): NodeRow | undefined {
  const live = tableOf(delivery, 'live');
  for (let page = live.range(); page.length > 0; page = live.range({ after: page.at(-1)?.[0] ?? '' })) {
    for (const [at] of page) if (delivery.nodes.at(Number(at)).plan === plan) return delivery.nodes.change(Number(at));
  }
  return undefined;
}

function askOfPlan(delivery: Delivery, plan: number): readonly [number, AskRow] | undefined {
  const asks = tableOf(delivery, 'asks');
  for (let page = asks.range(); page.length > 0; page = asks.range({ after: page.at(-1)?.[0] ?? '' })) {
    for (const [at, row] of page) if (row.plan === plan && row.outcome === null) return [Number(at), row];
  }
  return undefined;
}

/** People answered a question, or can no longer be asked. */
export function peopleAnswered(
  delivery: Delivery,
  { ask: n, text_ref, by }: EventValue<typeof treeNews, 'tree/PeopleAnswered@1'>,
): void {
  const row = tableOf(delivery, 'asks').get(key(n));
  if (row === undefined || row.outcome !== null) return;
  const isAnswered = text_ref !== null && by !== null;
  closeAsk(delivery, n, isAnswered ? { how: 'answered', by, picked: null, text_ref } : defaultOf(row));
}
