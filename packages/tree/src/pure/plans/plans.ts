/** The plans of trees: each has something done outside, and raises what came of it. */
import { humanAsk } from '@reprise/agent/contracts';
import { type Actor, actorOf, type Principal, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { composedSection, execute, KERNEL, planOf, workCompose } from '@reprise/org/contracts';
import { treeNews } from '../contracts/commands.js';
import { treeAgents, treeCheck, treeCheckParams } from '../contracts/effects.js';
import { carried, nodeNumber } from '../contracts/node.js';

const { n, launch, call } = treeNews['tree/Checked@1'].shape;

/** `tree/check_plan@1`: has a result checked, and raises the verdict. */
export const checkPlan = planOf('tree/check_plan@1', () => ({
  input: z.strictObject({ n, launch, call, check: treeCheckParams }),
  effects: [treeCheck],
  *run({ n, launch, call, check }, plan) {
    const { payload, code } = yield* execute(plan, treeCheck, check);
    const given = payload !== null && 'given' in payload ? payload.given : null;
    const problems_ref = payload !== null && 'problems_ref' in payload ? payload.problems_ref : null;
    plan.raiseEvent({ name: 'tree/Checked@1', value: { n, launch, call, given, problems_ref, code } });
  },
}));

/** The bytes of a prompt that the tree composes. */
const PROMPT_BYTES_MAX = 400_000;

/** `tree/launch_plan@1`: composes the prompt of a launch. */
export const launchPlan = planOf('tree/launch_plan@1', () => ({
  input: z.strictObject({ n, launch, sections: z.array(composedSection).max(64), carries: carried }),
  effects: [workCompose],
  *run({ n, launch, sections, carries }, plan) {
    const { payload, code } = yield* execute(plan, workCompose, { sections, bytes_max: PROMPT_BYTES_MAX });
    const text_ref = payload?.text_ref ?? null;
    plan.raiseEvent({ name: 'tree/Composed@1', value: { n, launch, carries, text_ref, code } });
  },
}));

/** The bytes of a question as an agent reads it. */
const QUESTION_BYTES_MAX = 16_000;

/** `tree/question_plan@1`: composes a question for a node whose run is under way. */
export const questionPlan = planOf('tree/question_plan@1', () => ({
  input: z.strictObject({ ask: nodeNumber, to: nodeNumber, sections: z.array(composedSection).max(8) }),
  effects: [workCompose],
  *run({ ask, to, sections }, plan) {
    const { payload } = yield* execute(plan, workCompose, { sections, bytes_max: QUESTION_BYTES_MAX });
    plan.raiseEvent({ name: 'tree/Questioned@1', value: { ask, to, text_ref: payload?.text_ref ?? null } });
  },
}));

/** `tree/people_plan@1`: asks people. The tree itself keeps the deadline, and cancels the plan. */
export const peoplePlan = planOf('tree/people_plan@1', () => ({
  input: z.strictObject({
    ask: nodeNumber,
    question_ref: ref(),
    session: z.strictObject({
      key: z.string().min(1).max(256),
      labels: z.record(z.string().max(64), z.string().max(256)),
    }),
  }),
  effects: [humanAsk],
  *run({ ask, question_ref, session }, plan) {
    const told = yield* plan.awaitReceipt(plan.emitEffect(humanAsk, { question_ref, session }));
    const isOk = told.status === 'ok';
    const text_ref = isOk ? told.payload.text_ref : null;
    const by = isOk ? settledBy(told) : null;
    plan.raiseEvent({ name: 'tree/PeopleAnswered@1', value: { ask, text_ref, by, late: !isOk } });
  },
}));

/** The receipt of a plan's effect says who settled it; without one, the program that is the world itself. */
function settledBy({ by, actor }: { readonly by?: string; readonly actor?: Actor }): Actor {
  return by === undefined ? (actor ?? KERNEL) : actorOf(by as Principal, actor);
}

/** `tree/supply_plan@1`: obtains agents and texts from the part of the world, for a tree that a cell started. */
export const supplyPlan = planOf('tree/supply_plan@1', () => ({
  input: z.strictObject({ memory: z.exactOptional(z.enum(['read', 'write'])) }),
  effects: [treeAgents],
  *run(input, plan) {
    const { payload: supplies, code } = yield* execute(plan, treeAgents, input);
    plan.raiseEvent({ name: 'tree/Supplied@1', value: { supplies, code } });
  },
}));
