/** The plans of projects: reading the team, waking the coordinator, answering calls that read. */
import { ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { PlanBody, PlanContext } from '@reprise/kernel/define';
import { composedSection, execute, outcomeIn, planOf, waitingCall, workCompose } from '@reprise/org/contracts';
import { lookAtTeam, readResult } from '../contracts/effects.js';
import { PROJECT_BOUNDS } from '../contracts/names.js';
import { resultNumber } from '../contracts/rows.js';
import { teamName } from '../contracts/team.js';

const count = z.int().min(0);

/** What a project knows of its team and skills, and the reading that this is. */
const knownTeam = z.strictObject({
  id: z.nullable(count),
  name: z.nullable(teamName),
  team: z.nullable(z.string().max(80)),
  skills: z.nullable(ref()),
});

/** What a project knows of its team and skills, and the reading that this is. */
export type KnownTeam = z.infer<typeof knownTeam>;

/** `specialists/read_plan@1`: reads the team and its skills. */
export const readPlan = planOf('specialists/read_plan@1', () => ({
  input: knownTeam,
  effects: [lookAtTeam],
  *run(known, plan) {
    yield* readAll(plan, known);
  },
}));

/** Reads the team and its skills, and raises an event for each page. */
function* readAll(plan: PlanContext, { id, ...known }: KnownTeam): PlanBody<void> {
  for (let next = known; ; ) {
    const { payload: seen, code } = yield* execute(plan, lookAtTeam, next);
    plan.raiseEvent({ name: 'specialists/TeamRead@1', value: { id, seen, code } });
    if (seen?.skills.more !== true) return;
    next = { name: known.name, team: seen.team.version, skills: seen.skills.version };
  }
}

/** The bytes of the text that wakes a coordinator. */
const WAKE_BYTES_MAX = 32_000;

/** `specialists/wake_plan@1`: composes what the coordinator is told, and reads its team meanwhile. */
export const wakePlan = planOf('specialists/wake_plan@1', () => ({
  input: z.strictObject({
    epoch: count,
    results: z.array(resultNumber).max(PROJECT_BOUNDS.shown),
    sections: z.array(composedSection).max(4),
    ...knownTeam.shape,
  }),
  effects: [workCompose, lookAtTeam],
  *run({ epoch, results, sections, ...known }, plan) {
    const asked = plan.emitEffect(workCompose, { sections, bytes_max: WAKE_BYTES_MAX });
    yield* readAll(plan, known);
    const { payload, code } = outcomeIn(yield* plan.awaitReceipt(asked));
    const text_ref = payload?.text_ref ?? null;
    plan.raiseEvent({ name: 'specialists/WakeComposed@1', value: { epoch, results, text_ref, code } });
  },
}));

/** The bytes of a list that a call is answered with. */
const LIST_BYTES_MAX = 16_000;

/** `specialists/list_plan@1`: composes a list of results for a call. */
export const listPlan = planOf('specialists/list_plan@1', () => ({
  input: z.strictObject({ call: waitingCall, sections: z.array(composedSection).max(4), value: value() }),
  effects: [workCompose],
  *run({ call, sections, value: told }, plan) {
    const { payload, code } = yield* execute(plan, workCompose, { sections, bytes_max: LIST_BYTES_MAX });
    const refs = payload === null ? [] : [{ label: 'results', ref: payload.text_ref }];
    plan.raiseEvent({ name: 'specialists/Answered@1', value: { call, value: told, refs, code } });
  },
}));

/** `specialists/show_plan@1`: reads a piece of a result for a call. */
export const showPlan = planOf('specialists/show_plan@1', () => ({
  input: z.strictObject({
    call: waitingCall,
    result: resultNumber,
    output_ref: ref(),
    offset: count,
    bytes: z.int().min(1).max(PROJECT_BOUNDS.read_bytes),
  }),
  effects: [readResult],
  *run({ call, result, ...piece }, plan) {
    const { payload, code } = yield* execute(plan, readResult, piece);
    const answer = (told: unknown, refs: readonly object[]): void =>
      plan.raiseEvent({ name: 'specialists/Answered@1', value: { call, value: told, refs, code } });
    if (payload === null) return answer(null, []);
    const { text_ref, next_offset, total_bytes } = payload;
    const next = next_offset === null ? {} : { next_offset };
    answer({ result_id: result, total_bytes, ...next }, [{ label: `agent_result:${result}`, ref: text_ref }]);
  },
}));
