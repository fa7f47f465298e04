/** Answers the plans of projects and jobs on a stage, as a world in good order would. */
import type { Ref } from '@reprise/contracts';
import { preparePlan } from '@reprise/org';
import { listPlan, poolOf, readPlan, showPlan, wakePlan } from '@reprise/specialists';
import { inputOf } from '../staged-values.js';
import { type Delivered, Stage, type StagedPlan, type StagedSession, TEXT } from './stage.js';

/** How a team on a stage is defined. */
export interface DeskTeam {
  readonly dispatch: 'coordinator' | 'auto';
  readonly on_failed: 'wait' | 'cascade';
  readonly slots: number;
  /** How often in a row the coordinator is woken without a person; 24 when absent. */
  readonly wakes?: number;
}

const PROJECT = 'specialists/Project@1';

/** The end of a run that went well. */
export const COMPLETED = { kind: 'Completed' };

/** The end of a run that failed. */
export const FAILED = { kind: 'Failed', code: 'boom', retryable: false, stage: 'llm_step' };

const CONFIG = { def_ref: TEXT, config: { cancel_grace_ms: 5_000, limits: {} } };

const skill = (name: string, rest: object = {}): object => ({
  ...{ name, digest: 'd', description: name, triggers: [], tools: [], project_tools: [], model: null },
  ...{ timeout_ms: null, planner: false, state: 'ready', refusal: null, problems: [], ...rest },
});

/** The skills of the team: one that works, one that plans, and one whose file is broken. */
const SKILLS = [
  skill('worker'),
  skill('planner', { planner: true, tools: ['plan_write'], project_tools: ['plan_write'] }),
  skill('broken', { state: 'invalid', refusal: 'skill_invalid', tools: null }),
];

/** A stage with a pool, and a hand that answers plans. */
export class Desk {
  readonly stage: Stage;

  constructor(
    private readonly team: DeskTeam,
    onDelivered: (delivered: Delivered) => void,
    makeStage: (onDelivered: (delivered: Delivered) => void) => Stage = (hear) => new Stage(hear),
  ) {
    this.stage = makeStage(onDelivered);
    const value = { limit: team.slots, paused: false };
    this.stage.send(poolOf('team'), { name: 'flow/OpenQueue@1', value });
  }

  /** Sends an event to a project. @returns why it was rejected */
  tell(project: string, name: string, value: object): string | undefined {
    return this.stage.send([PROJECT, project], { name, value });
  }

  /** The sessions that run, apart from coordinators. */
  workers(): StagedSession[] {
    return [...this.stage.sessions.values()].filter(({ run, owner }) => run !== null && owner[0] !== PROJECT);
  }

  /** The session of a coordinator. */
  coordinator(project: string): StagedSession | undefined {
    return this.stage.sessions.get(`${project}/coordinator`);
  }

  /** A plan does what it is for, and ends. */
  answer(plan: StagedPlan): void {
    const { stage } = this;
    stage.drop(plan);
    const preparing = inputOf(plan, preparePlan);
    if (preparing !== undefined) {
      const part = { kind: 'text', text_ref: TEXT };
      const rest = { agents: [], message_parts: [part], digest: 'ab'.repeat(32), resolved_model: 'main' };
      return stage.raise(plan, 'work/Prepared@1', { attempt: preparing.attempt, adopted: CONFIG, ...rest });
    }
    this.#finish(plan, { value: {}, code: null }, TEXT);
  }

  /** What a plan was for cannot be done: its effects have failed. */
  refuse(plan: StagedPlan): void {
    const { stage } = this;
    stage.drop(plan);
    const preparing = inputOf(plan, preparePlan);
    if (preparing !== undefined)
      return stage.raise(plan, 'work/NotPrepared@1', { attempt: preparing.attempt, code: 'skill_not_found' });
    this.#finish(plan, { value: null, code: 'boom' }, null);
  }

  /** Answers a call, or says what was read, and what was composed to wake the coordinator. */
  #finish(plan: StagedPlan, answer: { readonly value: object | null; readonly code: string | null }, text: Ref | null) {
    const { stage } = this;
    const called = inputOf(plan, listPlan) ?? inputOf(plan, showPlan);
    if (called !== undefined)
      return stage.raise(plan, 'specialists/Answered@1', { call: called.call, refs: [], ...answer });
    const waking = inputOf(plan, wakePlan);
    const reading = waking ?? inputOf(plan, readPlan);
    if (reading === undefined) throw new Error(`nobody plays the plan ${plan.name}`);
    const { code } = answer;
    const read = code === null ? this.#read(reading) : { id: reading.id, seen: null, code };
    stage.raise(plan, 'specialists/TeamRead@1', read);
    if (waking === undefined) return;
    const { epoch, results } = waking;
    stage.raise(plan, 'specialists/WakeComposed@1', { epoch, results, text_ref: text, code });
  }

  /** A plan fails before it has done anything. */
  break(plan: StagedPlan): void {
    this.stage.drop(plan);
    const value = { plan: [...plan.cell, plan.ordinal], code: 'plan_error' };
    this.stage.send(plan.cell, { name: 'sys/PlanFailed@1', value });
  }

  #read({ id, team, skills }: { id: number | null; team: string | null; skills: unknown }): object {
    const { dispatch, on_failed, wakes = 24 } = this.team;
    const row = {
      ...{ name: 'team', coordinator: CONFIG, app_tools: [], coordinator_tools: [], calls: null },
      ...{
        default_model: 'main',
        unpriced: [],
        timeout_ms: 300_000,
        dispatch,
        on_failed,
        budget: null,
        memory_max: null,
        wakes_max: wakes,
      },
    };
    const changed = skills === null ? SKILLS : [];
    return {
      id,
      seen: {
        team: team === null ? { version: 'v1', team: row } : { version: 'v1' },
        skills: { version: TEXT, changed, removed: [], more: false, afresh: false, models: ['main'], invalid: 1 },
      },
      code: null,
    };
  }
}
