import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, type PlanBody, type PlanContext, planOnUse } from '@reprise/kernel/define';
import { lookAtTeam } from '../contracts/effects.js';
import { teamName } from '../contracts/team.js';

/** What a project knows of its team and skills, and the reading that this is. */
export const knownTeam = z.strictObject({
  id: z.nullable(z.int().min(0)),
  name: z.nullable(teamName),
  team: z.nullable(z.string().max(80)),
  skills: z.nullable(ref()),
});

/** What a project knows of its team and skills, and the reading that this is. */
export type KnownTeam = z.infer<typeof knownTeam>;

type LookParams = Omit<KnownTeam, 'id'>;

/** `specialists/read_plan@1`: reads the team and its skills. */
export const readPlan = planOnUse('specialists/read_plan@1', () =>
  definePlan({
    name: 'specialists/read_plan@1',
    input: knownTeam,
    effects: [lookAtTeam],
    *run(known, plan) {
      yield* readAll(plan, known);
    },
  }),
);

/** Reads the team and its skills, and raises an event for each page. */
export function* readAll(plan: PlanContext, { id, ...known }: KnownTeam): PlanBody<void> {
  for (let next: LookParams | null = known; next !== null; ) next = yield* readPage(plan, id, next);
}

/** Reads one page. @returns what is known then; null for the last page */
function* readPage(plan: PlanContext, id: KnownTeam['id'], known: LookParams): PlanBody<LookParams | null> {
  const seen = yield* plan.awaitReceipt(plan.emitEffect(lookAtTeam, known));
  const payload = seen.status === 'ok' ? seen.payload : null;
  const code = payload === null ? (seen.code ?? seen.status) : null;
  plan.raiseEvent({ name: 'specialists/TeamRead@1', value: { id, seen: payload, code } });
  if (payload?.skills.more !== true) return null;
  return { name: known.name, team: payload.team.version, skills: payload.skills.version };
}
