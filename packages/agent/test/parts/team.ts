/** A small organization as a part of a world: a cell that makes sessions, answers their calls, and asks people. */
import { type Address, ref, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { Ack, Adapter } from '@reprise/kernel';
import { creates, defineEffect, definePlan, defineReducer, type ReducerContext } from '@reprise/kernel/define';
import * as zod from 'zod';
import { agentAdopted, userInput } from '../../src/contracts/commands.js';
import { type OwnerCall, type ownerAnswer, ownerCall } from '../../src/contracts/owner.js';
import { childNotice, SESSION_REDUCER } from '../../src/contracts/session.js';
import { humanAsk } from '../../src/contracts/tool-call.js';
import {
  type AnyAgent,
  defineAgent,
  defineOwnerTool,
  type PartHost,
  putText,
  readText,
  type WorldPart,
} from '../../src/index.js';

/** The team of the tests. */
export const TEAM: Address = ['test/Team@1', 'team'];

const place = { session: z.string(), call_id: z.string(), step_epoch: z.int() };

/** Looks something up outside, for a call of a member. */
const lookUp = defineEffect({
  kind: 'test.look_up@1',
  params: z.strictObject({ text_ref: ref() }),
  receipt: z.strictObject({ found_ref: ref() }),
  guarantee: 'idempotent',
});

const lookUpPlan = definePlan({
  name: 'test/LookUp@1',
  input: z.strictObject({ ...place, text_ref: ref() }),
  effects: [lookUp],
  *run({ text_ref, ...at }, ctx) {
    const receipt = yield* ctx.awaitReceipt(ctx.emitEffect(lookUp, { text_ref }));
    const found = receipt.status === 'ok' ? receipt.payload : {};
    ctx.raiseEvent({ name: 'test/LookedUp@1', value: { ...at, ...found } });
  },
});

const askPlan = definePlan({
  name: 'test/Ask@1',
  input: z.strictObject({ ...place, question_ref: ref() }),
  effects: [humanAsk],
  *run({ question_ref, ...at }, ctx) {
    const receipt = yield* ctx.awaitReceipt(ctx.emitEffect(humanAsk, { question_ref, to: 'human:ann' }));
    if (receipt.status === 'ok')
      ctx.raiseEvent({ name: 'test/Told@1', value: { ...at, text_ref: receipt.payload.text_ref } });
  },
});

const team = defineReducer({
  name: TEAM[0],
  state: z.strictObject({ members: z.int(), ended: z.array(z.string()), calls: z.array(z.string()) }),
  events: {
    'test/Start@1': creates(z.strictObject({ adopted: agentAdopted, said: userInput })),
    'test/LookedUp@1': z.strictObject({ ...place, found_ref: z.exactOptional(ref()) }),
    'test/Told@1': z.strictObject({ ...place, text_ref: ref() }),
    'aos.agent/OwnerCall@1': ownerCall,
    'aos.agent/ChildNotice@1': childNotice,
  },
  tables: { start: z.strictObject({ adopted: agentAdopted, said: userInput }) },
  init: () => ({ members: 0, ended: [], calls: [] }),
  reduce(draft, event, ctx) {
    const { name, value } = event;
    if (name === 'test/Start@1') {
      ctx.table('start').set('start', value);
      makeMember(draft, value.said.parts, ctx);
    } else if (name === 'aos.agent/ChildNotice@1') {
      if (value.news.kind === 'settled') draft.ended.push(value.session);
    } else if (name === 'aos.agent/OwnerCall@1') {
      draft.calls.push(`${value.session} ${value.call_id} ${value.name}`);
      take(draft, value, ctx);
    } else {
      const { session, call_id, step_epoch } = value;
      const at = { session, call_id, step_epoch };
      if ('text_ref' in value) answer(at, name, [{ label: 'answer', ref: value.text_ref }], ctx);
      else if (value.found_ref === undefined) answer(at, 'nothing found', [], ctx, true);
      else answer(at, name, [{ label: 'found', ref: value.found_ref }], ctx);
    }
  },
});

type Start = { readonly adopted: z.infer<typeof agentAdopted>; readonly said: z.infer<typeof userInput> };

function makeMember(draft: { members: number }, parts: Start['said']['parts'], ctx: ReducerContext): string {
  const start = ctx.table<Start>('start').get('start') as Start;
  const session = `${ctx.address[1]}/${++draft.members}`;
  const to: Address = [SESSION_REDUCER, session];
  ctx.send(to, { name: 'aos.agent/AgentAdopted@1', value: { ...start.adopted, tell_owner: true } });
  ctx.send(to, { name: 'aos.agent/UserInput@1', value: { ...start.said, parts } });
  return session;
}

function take(draft: { members: number }, call: OwnerCall, ctx: ReducerContext): void {
  const args = call.args as { readonly text_ref: never };
  const at = { session: call.session, call_id: call.call_id, step_epoch: call.step_epoch };
  if (call.name === 'look_up') ctx.emit({ plan: lookUpPlan, input: { ...at, text_ref: args.text_ref } });
  else if (call.name === 'ask_people') {
    ctx.emit({ plan: askPlan, input: { ...at, question_ref: args.text_ref } });
    ctx.send([SESSION_REDUCER, call.session], { name: 'aos.agent/OwnerParked@1', value: at });
  } else if (call.name === 'hire') {
    const hired = makeMember(draft, [{ kind: 'text', text_ref: args.text_ref }], ctx);
    answer(at, hired, [], ctx);
  } else answer(at, 'not offered', [], ctx, true);
}

function answer(
  at: Pick<OwnerCall, 'session' | 'call_id' | 'step_epoch'>,
  value: Value,
  refs: z.infer<typeof ownerAnswer>['refs'],
  ctx: ReducerContext,
  is_error = false,
): void {
  ctx.send([SESSION_REDUCER, at.session], { name: 'aos.agent/OwnerAnswer@1', value: { ...at, value, refs, is_error } });
}

/** The tools of members. */
export const memberTools = ['look_up', 'ask_people', 'hire'].map((name) =>
  defineOwnerTool({
    name,
    description: `The tool ${name}.`,
    args: zod.strictObject({ text: zod.string().max(1_000) }),
    keep: async ({ text }, { content }) => ({ text_ref: await putText(content, text) }),
  }),
);

/** The agent of members. */
export const member = defineAgent({ name: 'member', model: 'main', instructions: 'Work.', tools: memberTools });

/** What a team offers. */
export interface Teams {
  start(text: string, agent?: AnyAgent): Promise<Ack>;
  state(): Promise<{ readonly members: number; readonly ended: string[]; readonly calls: string[] }>;
}

/** The part; `lookedUp` collects what was looked up outside. */
export function teams(lookedUp: string[] = [], agents: readonly AnyAgent[] = [member]): WorldPart<Teams> {
  return {
    name: 'teams',
    reducers: [team],
    plans: [lookUpPlan, askPlan],
    adapters: (host) => [lookUpAdapter(lookedUp, host)],
    policy: [{ effect: 'test.look_up@1', decision: 'allow' }],
    agents,
    titleOf: ({ cell }) => (cell[0] === TEAM[0] ? `team ${cell[1]}` : undefined),
    handle: (world) => ({
      start: async (text, agent = member) => {
        const { adopted, agents: below } = await world.adopted(agent);
        const said = {
          parts: [{ kind: 'text', text_ref: await putText(world.kernel.content, text) }],
          command_id: 'start',
          priority: 0,
          cause: { kind: 'app', reason: 'team' },
        };
        const value = { adopted: { ...adopted, adopt: 'pin', agents: below }, said };
        return world.kernel.request(TEAM, { name: 'test/Start@1', value }, { id: 'start' });
      },
      state: async () => (await world.kernel.state(TEAM)) as never,
    }),
  };
}

function lookUpAdapter(lookedUp: string[], host: PartHost): Adapter {
  return {
    effect: lookUp,
    name: 'test.look_up',
    doExecute: async (params) => {
      const text = await readText(host.content, (params as { text_ref: never }).text_ref);
      lookedUp.push(text);
      if (text === 'nothing') return { status: 'error', code: 'adapter_error/nothing', retryable: false };
      return { status: 'ok', payload: { found_ref: await putText(host.content, `${text} in ${TEAM[1]}`) } };
    },
  } as Adapter;
}
