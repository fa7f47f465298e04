/** The desk: the cell that connects a society, a team and trees. It answers calls by having others do the work. */
import { type Address, by, creates, defineReducer, from, type ReducerContext, type Ref } from 'reprise/kernel';
import { type OwnerCall, ownerCall } from 'reprise/org';
import { treeEnded } from 'reprise/tree';
import * as z from 'zod';

export const DESK: Address = ['office/Desk@1', 'main'];

/** How long an agent waits for the report of its job. */
const JOB_MS = 60 * 60_000;

/** A call that waits: the cell that passed it on and takes the answer, and what the answer has to name. */
const waiting = z.strictObject({
  owner: z.tuple([z.string(), z.string()]),
  session: z.string(),
  call_id: z.string(),
  step_epoch: z.int(),
});
type Waiting = z.output<typeof waiting>;

export const desk = defineReducer({
  name: DESK[0],
  state: z.strictObject({ made: z.int() }),
  tables: { waiting }, // by the project or tree that was made for the call
  events: {
    'office/Open@1': creates(from(z.strictObject({}), by.outside)),
    'aos.agent/OwnerCall@1': from(ownerCall, by.any), // every agent of the society: the gate lets through no others
    'tree/Ended@1': from(treeEnded, by.row('waiting', { reducer: 'tree/Tree@1' })),
    'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  },
  init: () => ({ made: 0 }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'office/Open@1':
        return;
      case 'tree/Ended@1': {
        const { status, result_ref } = event.value;
        return finish(ctx, ctx.rowKey ?? '', { value: status, ref: result_ref, failed: status !== 'complete' });
      }
      case 'sys/TimerFired@1':
        return finish(ctx, event.value.name, { value: 'no report in time', failed: true });
      default:
        return take(draft, event.value, ctx);
    }
  },
});

/** Takes a call. The kernel vouches for who calls. */
function take(
  draft: { made: number },
  { name, args, session, call_id, step_epoch }: OwnerCall,
  ctx: ReducerContext,
): void {
  if (ctx.caller === null) return ctx.reject('no_cell');
  const call: Waiting = { owner: [...ctx.caller], session, call_id, step_epoch };
  const [reducer, key] = call.owner;
  switch (`${reducer} ${name}`) {
    case 'society/Entity@1 delegate': {
      const job = `job-${++draft.made}`;
      const parts = [{ kind: 'text', text_ref: (args as { readonly goal_ref: Ref }).goal_ref }];
      ctx.send(['specialists/Project@1', job], { name: 'specialists/Say@1', value: { command_id: job, parts } });
      ctx.timer(job, ctx.now + JOB_MS);
      return park(ctx, job, call);
    }
    case 'specialists/Project@1 survey': {
      const survey = `survey-${++draft.made}`;
      const { question_ref } = args as { readonly question_ref: Ref };
      const start = { goal: 'Answer a question', prompt_ref: question_ref };
      ctx.send(['tree/Tree@1', survey], { name: 'tree/Start@1', value: start });
      return park(ctx, survey, call);
    }
    case 'specialists/Project@1 report':
      finish(ctx, key, { value: 'done', ref: (args as { readonly text_ref: Ref }).text_ref });
      return answer(ctx, call, { value: 'reported' });
    default:
      return answer(ctx, call, { value: 'the desk has no such tool', failed: true });
  }
}

/** What a call is answered. */
interface Said {
  readonly value: string;
  readonly ref?: Ref | undefined;
  readonly failed?: boolean;
}

/** The call waits for a cell, and says so: the run that made it now counts as waiting. */
function park(ctx: ReducerContext, cell: string, call: Waiting): void {
  ctx.table<Waiting>('waiting').set(cell, call);
  const { owner, ...parked } = call;
  ctx.send(owner, { name: 'aos.agent/OwnerParked@1', value: parked });
}

/** A cell has ended: the call that waits for it is answered, once. */
function finish(ctx: ReducerContext, cell: string, said: Said): void {
  const calls = ctx.table<Waiting>('waiting');
  const call = calls.get(cell);
  if (call === undefined) return;
  calls.delete(cell);
  ctx.clearTimer(cell);
  answer(ctx, call, said);
}

function answer(ctx: ReducerContext, { owner, ...call }: Waiting, { value, ref, failed = false }: Said): void {
  const refs = ref === undefined ? [] : [{ label: 'result', ref }];
  ctx.send(owner, { name: 'aos.agent/OwnerAnswer@1', value: { ...call, value, refs, is_error: failed } });
}
