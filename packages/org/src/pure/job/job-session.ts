/** The session of an attempt: how it is prepared and made, and what it tells. */
import { type ChildNotice, SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, present } from '@reprise/contracts';
import type { EventValue } from '@reprise/kernel/define';
import { type jobPlanNews, preparePlan } from './contracts.js';
import { dropMaking, endJob, hasEnded, moveJob, TIMEOUT } from './job-ends.js';
import type { JobContext, JobState, JobTerms } from './job-state.js';
import { makeWithRights } from './made.js';
import { leavePool } from './pool.js';

type Prepared = EventValue<typeof jobPlanNews, 'work/Prepared@1'>;

/** Begins the tag of an input, whose refusal comes back with it. */
export const INPUT_TAG = 'input.';

/** The key of the only entry of the table `terms`. */
export const TERMS = 'job';

/** Begins the time of a job, and its first attempt. */
export function granted(draft: JobState, ctx: JobContext): void {
  ctx.timer(TIMEOUT, ctx.now + draft.timeout_ms);
  prepare(draft, ctx);
}

/** Begins another attempt: its plan prepares the session. */
export function prepare(draft: JobState, ctx: JobContext): void {
  dropMaking(draft, ctx);
  draft.attempt++;
  draft.session = null;
  const { kind, request_ref, inputs, model, owner, n } = draft;
  const { details } = termsOf(ctx);
  const request = { kind, request_ref, inputs, model, owner, n, ...present({ details }) };
  draft.plan = ctx.emit({ plan: preparePlan, input: { attempt: draft.attempt, request } });
  moveJob(draft, 'preparing', ctx);
}

/** Takes the definition and the input of an attempt, and makes its session. */
export function prepared(draft: JobState, { adopted, agents, ...given }: Prepared, ctx: JobContext): void {
  const { grant, labels } = termsOf(ctx);
  const session = sessionKey(ctx, draft.attempt);
  const to: Address = [SESSION_REDUCER, session];
  ctx.table('sessions').set(session, draft.attempt);
  Object.assign(draft, { plan: null, session, digest: given.digest, model: given.resolved_model });
  draft.grace_ms = adopted.config.cancel_grace_ms;
  const making = {
    name: 'aos.agent/AgentAdopted@1',
    value: {
      def_ref: adopted.def_ref,
      config: { ...adopted.config, after_answer: 'complete' },
      adopt: 'pin',
      agents,
      depth: 0,
      tell_owner: 'after_start',
      labels,
    },
  };
  const cause = { kind: 'app', reason: `job ${draft.n}` };
  const input = { command_id: 'job', parts: given.message_parts, priority: 0, cause };
  const tag = `${INPUT_TAG}${draft.attempt}`;
  if (grant !== null)
    return makeWithRights(ctx, {
      ...{ to, making, rights: grant, tag },
      first: { name: 'aos.agent/UserInput@1', value: input },
    });
  ctx.send(to, { ...making, value: { ...making.value, input } }, { reply: 'refusal', tag });
  moveJob(draft, 'running', ctx);
}

/** An attempt whose session is lost: it failed as a cell, or takes no input. */
export function attemptLost(draft: JobState, code: string, ctx: JobContext): void {
  if (draft.stopping !== null) return endJob(draft, { status: draft.stopping }, ctx);
  if (draft.attempt >= draft.attempts) return endJob(draft, { status: 'failed', code }, ctx);
  prepare(draft, ctx);
}

/** Takes a notice of the session of this attempt. */
export function sessionNews(draft: JobState, { news }: ChildNotice, ctx: JobContext): void {
  switch (news.kind) {
    case 'settled':
      countUse(draft, news.tally);
      return runEnded(draft, news, ctx);
    case 'waiting':
      // Sessions below it work meanwhile: their run keeps the slot (job/J4).
      if (news.for === 'children' || draft.status !== 'running' || draft.stopping !== null) return;
      leavePool(draft, ctx);
      moveJob(draft, 'waiting', ctx);
      return;
    case 'running':
      if (draft.status === 'waiting' && draft.stopping === null) moveJob(draft, 'running', ctx);
      return;
    default:
      return;
  }
}

type Ended = Extract<ChildNotice['news'], { readonly kind: 'settled' }>;

function runEnded(draft: JobState, { stop, output_ref, value_ref }: Ended, ctx: JobContext): void {
  if (stop.kind === 'Completed') return endJob(draft, { status: 'ok', code: null, output_ref, value_ref }, ctx);
  if (draft.stopping !== null) return endJob(draft, { status: draft.stopping }, ctx);
  if (stop.kind === 'Cancelled') return endJob(draft, { status: 'cancelled', code: 'session_cancelled' }, ctx);
  const code = stop.kind === 'Failed' ? stop.code : `limit/${stop.limit}`;
  endJob(draft, { status: 'failed', code }, ctx);
}

/** Counts what a run used, also one of an earlier attempt (job/J3). */
export function countUse({ tally }: JobState, used: Ended['tally']): void {
  tally.steps += used.steps;
  tally.tokens_in += used.tokens_in;
  tally.tokens_out += used.tokens_out;
  tally.micro_money += used.micro_money;
}

/** Whether the session of this attempt works or waits: only then its calls and notices count (job/J3). */
export function isLive(draft: JobState, session: string): boolean {
  return session === draft.session && !hasEnded(draft) && draft.status !== 'preparing';
}

/** The session of the first attempt has the job's key. */
function sessionKey({ address: [, key] }: JobContext, attempt: number): string {
  return attempt === 1 ? key : `${key}~${attempt}`;
}

function termsOf(ctx: JobContext): JobTerms {
  return ctx.table('terms').get(TERMS) ?? ctx.reject('no_terms');
}
