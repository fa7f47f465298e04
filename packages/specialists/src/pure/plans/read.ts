import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, type PlanBody, type PlanContext, planOnUse } from '@reprise/kernel/define';
import { readTeam } from '../contracts/effects.js';
import { type SkillsSeen, specialistsSkills } from '../contracts/skills.js';

/** What a project knows of its team and skills, and the reading that this is. */
export const knownTeam = z.strictObject({
  id: z.nullable(z.int().min(0)),
  team: z.nullable(z.string().max(80)),
  skills: z.nullable(ref()),
});

/** What a project knows of its team and skills, and the reading that this is. */
export type KnownTeam = z.infer<typeof knownTeam>;

/** `specialists/read_plan@1`: reads the team and its skills. */
export const readPlan = planOnUse('specialists/read_plan@1', () =>
  definePlan({
    name: 'specialists/read_plan@1',
    input: knownTeam,
    effects: [readTeam, specialistsSkills],
    *run(known, plan) {
      yield* readAll(plan, known);
    },
  }),
);

/** Reads the team and its skills, and raises an event for each page. */
export function* readAll(plan: PlanContext, known: KnownTeam): PlanBody<void> {
  const team = plan.emitEffect(readTeam, { known: known.team });
  let skills = plan.emitEffect(specialistsSkills, { known_version: known.skills });
  const read = yield* plan.awaitReceipt(team);
  for (let isFirst = true; ; isFirst = false) {
    const seen = yield* plan.awaitReceipt(skills);
    const page: SkillsSeen | null = seen.status === 'ok' ? seen.payload : null;
    const code = read.status !== 'ok' ? (read.code ?? read.status) : page === null ? (seen.code ?? seen.status) : null;
    const value = { id: known.id, team: isFirst && read.status === 'ok' ? read.payload : null, skills: page, code };
    plan.raiseEvent({ name: 'specialists/TeamRead@1', value });
    if (page === null || !page.more) return;
    skills = plan.emitEffect(specialistsSkills, { known_version: page.version });
  }
}
