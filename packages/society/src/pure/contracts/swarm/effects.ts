/** The effect by which a swarm is checked before anything of it is made: its agents exist, and their models have prices. */
import * as z from '@reprise/contracts/schema';
import { codeOf, composedSection, effectOf, planOf, workCompose } from '@reprise/org/contracts';
import { slotName } from './tools.js';

const text = z.string().max(500);

/** Why a swarm was refused: where in the manifest, and what to do. */
export const swarmProblem = z.strictObject({ code: z.string().max(64), path: text, problem: text });

/** What of a manifest is checked: the agents of its slots, and whether it has a budget in money. */
const checked = z.strictObject({
  slots: z.array(z.strictObject({ slot: slotName, agent: z.string().max(128) })).max(16),
  money: z.boolean(),
});

/** `society.swarm@1`: whether the agents of a manifest exist, and whether a budget in money can be kept. */
export const societySwarm = effectOf('society.swarm@1', () => ({
  params: checked,
  receipt: z.strictObject({ problem: z.nullable(swarmProblem) }),
  guarantee: 'idempotent',
}));

/** `society/swarm_plan@1`: has a manifest checked, and tells the entity that creates the swarm. */
export const checkSwarmPlan = planOf('society/swarm_plan@1', () => ({
  input: z.strictObject({ call: z.string().max(64), ...checked.shape }),
  effects: [societySwarm],
  *run({ call, slots, money }, plan) {
    const verdict = yield* plan.awaitReceipt(plan.emitEffect(societySwarm, { slots, money }));
    const value = verdict.status === 'ok' ? verdict.payload.problem : null;
    plan.raiseEvent({ name: 'society/SwarmChecked@1', value: { call, code: codeOf(verdict), value } });
  },
}));

/** `society/join_plan@1`: joins outputs of a swarm's agents to a text. */
export const joinPlan = planOf('society/join_plan@1', () => ({
  input: z.strictObject({ sections: z.array(composedSection).max(1), bytes_max: z.int().min(1) }),
  effects: [workCompose],
  *run({ sections, bytes_max }, plan) {
    const composed = yield* plan.awaitReceipt(plan.emitEffect(workCompose, { sections, bytes_max }));
    const text_ref = composed.status === 'ok' ? composed.payload.text_ref : null;
    plan.raiseEvent({ name: 'society/Composed@1', value: { text_ref, code: codeOf(composed) } });
  },
}));
