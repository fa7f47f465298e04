/**
 * What the agents of a swarm work on, and when: all together, stage after stage, or as a coordinator delegates.
 *
 * A stage of as many agents as the stage before is a set of lanes: each agent goes on from the output of one. Any other
 * stage gets the outputs of the stage before joined, in the order of slots and places.
 */

import type { Ref } from '@reprise/contracts';
import { firstOf, key } from '@reprise/org/contracts';
import type { SwarmRow } from '../../contracts/entity-parts.js';
import type { SwarmState, SwarmTask } from '../../contracts/swarm/swarm.js';
import { answerCollects, answerComposed, join, outputsOf } from './collect.js';
import {
  failing,
  isOver,
  lastStage,
  membersOf,
  moveSwarm,
  type SwarmContext,
  slotsOf,
  stageOf,
  taskOr,
  tasksOf,
} from './context.js';
import { endSwarm } from './ending.js';
import { codeOfFailed } from './spending.js';
import { addTask, beginWaiting, startTask } from './tasks.js';
import { tellCreator } from './workers.js';

/** The swarm has formed: its creator is told, and its agents work. */
export function execute(draft: SwarmState, ctx: SwarmContext): void {
  moveSwarm(draft, 'executing', ctx);
  tellCreator(draft, null, ctx);
  if (draft.strategy === 'hierarchical') return beginCoordinator(draft, ctx);
  for (const [member] of membersOf(ctx)) {
    const stage = key(stageOf(draft, member));
    ctx.table('stages').set(stage, (ctx.table('stages').get(stage) ?? 0) + 1);
    addTask(draft, member, slotsOf(ctx)[firstOf(member)]?.task_ref ?? null, ctx);
  }
  beginStage(draft, 0, null, ctx);
}

/** The slot of the coordinator gets the goal; the others wait for what it delegates. */
function beginCoordinator(draft: SwarmState, ctx: SwarmContext): void {
  const own = membersOf(ctx).find(([, { agent_id }]) => agent_id === draft.coordinator);
  if (own === undefined) return; // an agent that exists already: it works by its own calls
  startTask(draft, addTask(draft, own[0], slotsOf(ctx)[firstOf(own[0])]?.task_ref ?? null, ctx), null, ctx);
}

function tasksOfStage(draft: SwarmState, stage: number, ctx: SwarmContext) {
  return tasksOf(ctx).filter(([, { member }]) => stageOf(draft, member) === stage);
}

function beginStage(draft: SwarmState, stage: number, input: SwarmTask['input'], ctx: SwarmContext): void {
  draft.stage = stage;
  if (stage > 0 && stage === lastStage(draft) && draft.synthesizer !== null) moveSwarm(draft, 'synthesizing', ctx);
  for (const [n] of tasksOfStage(draft, stage, ctx)) startTask(draft, n, input, ctx);
}

/** Follows the ends of tasks of this delivery: what waits for them goes on, or the swarm fails. */
export function follow(draft: SwarmState, ctx: SwarmContext): void {
  const over = ctx.table('over');
  for (let first = over.first(); first !== undefined; first = over.first()) {
    over.delete(first[0]);
    if (!isOver(draft) && !draft.failing) taskOver(draft, Number(first[0]), ctx);
  }
  if (!isOver(draft)) beginWaiting(draft, ctx);
  if (draft.failing && !isOver(draft)) endSwarm(draft, { status: 'failed', mode: 'archive' }, ctx);
  answerCollects(draft, ctx);
}

function taskOver(draft: SwarmState, n: number, ctx: SwarmContext): void {
  if (draft.strategy === 'hierarchical') return delegatedOver(draft, n, ctx);
  const { member } = taskOr(ctx, n);
  const stage = stageOf(draft, member);
  const stages = ctx.table('stages');
  const left = (stages.get(key(stage)) ?? 1) - 1;
  stages.set(key(stage), left);
  if (stage === lastStage(draft)) {
    if (left === 0) synthesize(draft, ctx);
    return;
  }
  if (isLane(draft, stage, ctx)) goOn(draft, stage, n, ctx);
  else if (left === 0) joinStage(draft, stage, ctx);
}

/** Whether each agent of the next stage goes on from one of this one. */
function isLane(draft: SwarmState, stage: number, ctx: SwarmContext): boolean {
  const size = (of: number) => membersOf(ctx).filter(([key]) => stageOf(draft, key) === of).length;
  return draft.strategy === 'pipeline' && size(stage) === size(stage + 1);
}

function goOn(draft: SwarmState, stage: number, n: number, ctx: SwarmContext): void {
  const lane = tasksOfStage(draft, stage, ctx).findIndex(([one]) => one === n);
  const next = tasksOfStage(draft, stage + 1, ctx)[lane];
  if (next === undefined) return;
  draft.stage = Math.max(draft.stage, stage + 1);
  const { output_ref } = taskOr(ctx, n);
  startTask(draft, next[0], output_ref === null ? 'none' : { kind: 'llm_output', ref: output_ref }, ctx);
}

function joinStage(draft: SwarmState, stage: number, ctx: SwarmContext): void {
  const outputs = outputsOf(tasksOfStage(draft, stage, ctx), ctx);
  if (outputs.length === 0) {
    for (const [n] of tasksOfStage(draft, stage + 1, ctx)) startTask(draft, n, 'none', ctx);
    return;
  }
  join(outputs, { kind: 'join', stage: stage + 1 }, ctx);
}

/** The text of a join is there. */
export function composed(
  draft: SwarmState,
  purpose: SwarmRow<'plans'>,
  { text_ref, code }: { readonly text_ref: Ref | null; readonly code: string | null },
  ctx: SwarmContext,
): void {
  if (purpose.kind === 'collect' || purpose.kind === 'status') return answerComposed(draft, purpose, text_ref, ctx);
  if (purpose.kind === 'key' || isOver(draft)) return;
  if (text_ref === null) return failing(draft, code ?? 'not_joined');
  if (purpose.kind === 'join') return beginStage(draft, purpose.stage, { kind: 'text', ref: text_ref }, ctx);
  draft.synthesis_ref = text_ref;
  draft.synthesis_kind = 'text';
  endSwarm(draft, { status: 'archived', mode: 'archive' }, ctx);
}

/** All tasks have ended: one output is the synthesis; several are joined, with no call of a model. */
function synthesize(draft: SwarmState, ctx: SwarmContext): void {
  const outputs = outputsOf(tasksOfStage(draft, lastStage(draft), ctx), ctx);
  if (draft.status !== 'synthesizing') moveSwarm(draft, 'synthesizing', ctx);
  if (draft.coordinator !== null && draft.synthesizer === null) return; // that agent finishes
  const [only] = outputs;
  if (only === undefined) {
    const tasks = tasksOf(ctx).map(([, task]) => task);
    return failing(draft, codeOfFailed(draft, 'no_results', tasks));
  }
  if (outputs.length > 1) return join(outputs, { kind: 'synthesis' }, ctx);
  draft.synthesis_ref = only.ref;
  draft.synthesis_kind = 'llm_output';
  endSwarm(draft, { status: 'archived', mode: 'archive' }, ctx);
}

/** A task of a hierarchical swarm has ended: the coordinator's own ends the swarm; the others may end a collect. */
function delegatedOver(draft: SwarmState, n: number, ctx: SwarmContext): void {
  const task = taskOr(ctx, n);
  const { agent_id, status, output_ref, code } = task;
  if (agent_id !== draft.coordinator) return;
  if (status !== 'ok') return failing(draft, codeOfFailed(draft, `coordinator/${code ?? status}`, [task]));
  moveSwarm(draft, 'synthesizing', ctx);
  draft.synthesis_ref = output_ref;
  draft.synthesis_kind = output_ref === null ? null : 'llm_output';
  endSwarm(draft, { status: 'archived', mode: 'archive' }, ctx);
}
