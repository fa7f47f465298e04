/** The effect by which a swarm is checked before anything of it is made: its agents exist, and their models have prices. */
import * as z from '@reprise/contracts/schema';
import { composedSection, effectOf, planOf, workCompose } from '@reprise/org/contracts';
import { slotName } from './tools.js';

const text = z.string().max(500);

/** Why a swarm was refused: where in the manifest, and what to do. */
export const swarmProblem = z.strictObject({ code: z.string().max(64), path: text, problem: text });

/** `society.swarm@1`: whether the agents of a manifest exist, and whether a budget in money can be kept. */
export const societySwarm = effectOf('society.swarm@1', () => ({
  params: z.strictObject({
    slots: z.array(z.strictObject({ slot: slotName, agent: z.string().max(128) })).max(16),
    money: z.boolean(),
  }),
  receipt: z.strictObject({ problem: z.nullable(swarmProblem) }),
  guarantee: 'idempotent',
}));

/** `society/swarm_plan@1`: has a manifest checked, and tells the entity that creates the swarm. */
export const checkSwarmPlan = planOf('society/swarm_plan@1', () => ({
  input: z.strictObject({
    call: z.string().max(64),
    slots: z.array(z.strictObject({ slot: slotName, agent: z.string().max(128) })).max(16),
    money: z.boolean(),
  }),
  effects: [societySwarm],
  *run({ call, slots, money }, plan) {
    const checked = yield* plan.awaitReceipt(plan.emitEffect(societySwarm, { slots, money }));
    const code = checked.status === 'ok' ? null : (checked.code ?? checked.status);
    const value = checked.status === 'ok' ? checked.payload.problem : null;
    plan.raiseEvent({ name: 'society/SwarmChecked@1', value: { call, code, value } });
  },
}));

/** `society/join_plan@1`: joins outputs of a swarm's agents to a text. */
export const joinPlan = planOf('society/join_plan@1', () => ({
  input: z.strictObject({ sections: z.array(composedSection).max(1), bytes_max: z.int().min(1) }),
  effects: [workCompose],
  *run({ sections, bytes_max }, plan) {
    const composed = yield* plan.awaitReceipt(plan.emitEffect(workCompose, { sections, bytes_max }));
    const isOk = composed.status === 'ok';
    const text_ref = isOk ? composed.payload.text_ref : null;
    const code = isOk ? null : (composed.code ?? composed.status);
    plan.raiseEvent({ name: 'society/Composed@1', value: { text_ref, code } });
  },
}));
