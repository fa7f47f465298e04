/** Worlds with a desk that has jobs done, whose model does what a job's task says. */
import {
  type AgentWorld,
  appOf,
  defineAgent,
  defineOwnerTool,
  defineTool,
  type OwnerCall,
  openAgentWorld,
  ownerCall,
  putText,
  type WorldPart,
} from '@reprise/agent';
import { type Address, NOTICES, type Value } from '@reprise/contracts';
import { creates, defineReducer, memory, type ReducerContext, type Store, verifyStore } from '@reprise/kernel';
import {
  type BeginJob,
  beginJob,
  beginWork,
  type JobChanged,
  jobAddress,
  jobChanged,
  jobEvents,
  jobNotMade,
  jobOfSender,
  NotPrepared,
  type Preparer,
  reportWork,
  stopWork,
  workPart,
} from '@reprise/org';
import { QUEUE } from '@reprise/org/contracts';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { VirtualClock } from '@reprise/testkit';
import { expect } from 'vitest';
import * as z from 'zod';

const DESK = 'test/Desk@1';

/** The address of the desk. */
export const desk: Address = [DESK, 'd'];

/** The key of the pool of these worlds. */
export const POOL = 'pool';

const place = z.strictObject({ n: z.int(), session: z.string(), call_id: z.string(), step_epoch: z.int() });
type Place = z.infer<typeof place>;

/** Has jobs done, writes down what it hears, and answers calls of the tool `ask_desk`, at once or after a decision. It fails when it is asked to. */
const deskReducer = defineReducer({
  name: DESK,
  state: z.strictObject({ parked: z.array(place) }),
  events: {
    'test/Open@1': creates(z.strictObject({ slots: z.int() })),
    'test/Hire@1': z.strictObject({ job: beginJob }),
    'test/Stop@1': z.strictObject({ n: z.int() }),
    'test/Ask@1': z.strictObject({ n: z.int() }),
    'test/Decide@1': z.strictObject({ says: z.string() }),
    'test/AnswerAgain@1': z.strictObject({ place }),
    'test/Quit@1': z.strictObject({}),
    'test/Break@1': z.strictObject({}),
    'test/Fail@1': z.strictObject({}),
    ...jobEvents,
    'aos.agent/OwnerCall@1': ownerCall,
    'sys/Undeliverable@1': NOTICES['sys/Undeliverable@1'],
    'sys/Reply@1': NOTICES['sys/Reply@1'],
  },
  logs: { heard: jobChanged },
  init: () => ({ parked: [] }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'test/Open@1': {
        const opening = { name: 'flow/OpenQueue@1', value: { limit: event.value.slots, paused: false } };
        return ctx.send([QUEUE, POOL], opening);
      }
      case 'test/Hire@1':
        return beginWork(ctx, event.value.job as BeginJob);
      case 'test/Stop@1':
        return stopWork(ctx, event.value.n, 'not_needed');
      case 'test/Ask@1':
        return reportWork(ctx, event.value.n);
      case 'sys/Reply@1': {
        const unmade = jobNotMade(event.value);
        if (unmade !== undefined) ctx.append('heard', unmade);
        return;
      }
      case 'test/Decide@1': {
        const parked = draft.parked.map((one) => ({ ...one }));
        draft.parked = [];
        for (const one of parked) answer(ctx, one, event.value.says);
        return;
      }
      case 'test/AnswerAgain@1':
        return answer(ctx, event.value.place, 'again');
      case 'test/Quit@1':
        return ctx.end();
      case 'test/Break@1':
        return ctx.send(ctx.address, { name: 'test/Fail@1', value: {} });
      case 'test/Fail@1':
        throw new Error('a defect');
      case 'work/JobChanged@1':
        ctx.append('heard', event.value);
        return;
      case 'aos.agent/OwnerCall@1':
        return called(draft.parked, event.value, ctx);
    }
  },
});

function called(parked: Place[], { session, call_id, step_epoch, args }: OwnerCall, ctx: ReducerContext): void {
  const n = jobOfSender(ctx) ?? ctx.reject('not_my_job');
  const { about } = args as { readonly about: string };
  const one = { n, session, call_id, step_epoch };
  if (about === 'refuse') ctx.reject('not_offered');
  if (about === 'fail') throw new Error('a defect');
  if (about !== 'wait') return answer(ctx, one, `about ${about}`);
  parked.push(one);
  const value = { session, call_id, step_epoch };
  ctx.send(jobAddress(ctx.address[1], n), { name: 'aos.agent/OwnerParked@1', value });
}

function answer(ctx: ReducerContext, { n, ...at }: Place, says: string): void {
  const value = { ...at, value: says, refs: [], is_error: false };
  ctx.send(jobAddress(ctx.address[1], n), { name: 'aos.agent/OwnerAnswer@1', value });
}

const TOOLS = [
  defineTool({
    name: 'hang',
    description: 'Hangs until it is told to stop.',
    args: z.strictObject({}),
    guarantee: 'idempotent',
    run: (_args, { signal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      }),
  }),
  defineTool({
    name: 'approved',
    description: 'Does what a person approved.',
    args: z.strictObject({}),
    guarantee: 'idempotent',
    approval: 'always',
    run: async () => 'done',
  }),
  defineOwnerTool({ name: 'ask_desk', description: 'Asks the desk.', args: z.strictObject({ about: z.string() }) }),
];

/** The agent of the jobs. */
export const worker = defineAgent({
  name: 'worker',
  model: 'main',
  instructions: 'Do the task.',
  tools: TOOLS,
  limits: { steps: 3 },
});

/** What the model does for a task, by the number of its answers so far. */
function does(task: string, step: number, last: string): ScriptStep {
  const [verb = '', what = ''] = task.split(' ');
  if (verb === 'hang' && step === 0) return { calls: [{ tool: 'hang', args: {} }] };
  if (verb === 'approved' && step === 0) return { calls: [{ tool: 'approved', args: {} }] };
  if (verb === 'ask' && step === 0) return { calls: [{ tool: 'ask_desk', args: { about: what } }] };
  if (verb === 'loop') return { calls: [{ tool: 'ask_desk', args: { about: `step ${step}` } }] };
  if (verb === 'fail') return { fail: 'provider_error_terminal/refused' };
  if (verb === 'think') return { text: 'thinking', delayMs: Number.POSITIVE_INFINITY };
  return { text: `${task}: ${step === 0 ? 'done' : last}` };
}

/** Prepares a job from its details: `{ task }`. */
export function preparer(heard: (task: string) => void = () => undefined): Preparer {
  return {
    kind: 'task',
    async prepare({ details, model, n, inputs, request }, host) {
      const { task } = details as { readonly task: string };
      heard(task);
      if (task === 'unprepared') throw new NotPrepared('skill_not_found');
      if (task === 'broken') throw new Error('a defect');
      if (task === 'slow') await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
      const { adopted, agents } = await host.adopt(worker);
      const text_ref = await putText(host.content, `Job ${n}: ${task}`);
      const results = inputs.map(({ from, output_ref, view }) => ({
        kind: 'result' as const,
        child: `#${from}`,
        output_ref,
        view,
      }));
      const digest = '0'.repeat(64 - task.length) + task.replaceAll(/[^0-9a-f]/g, 'a');
      return {
        adopted,
        agents: [...agents],
        message_parts: [{ kind: 'text', text_ref }, ...results],
        digest,
        resolved_model: model ?? `main${request === null ? '' : '!'}`,
      };
    },
  };
}

/** What the office is to be. */
export interface OfficeOptions {
  readonly store?: Store;
  readonly slots?: number;
  readonly clock?: VirtualClock;
  /** Whether an earlier world of this store has opened the desk. */
  readonly goesOn?: boolean;
  /** The parts of jobs, in place of the usual one: with a bug. */
  readonly change?: (work: WorldPart) => WorldPart;
  readonly more?: object;
}

/** An open world with a desk. */
export interface Office {
  readonly world: AgentWorld;
  readonly clock: VirtualClock;
  /** The requests that the model got. */
  readonly asked: readonly ScriptRequest[];
  /** The tasks that were prepared. */
  readonly prepared: readonly string[];
  hire(n: number, task: string, more?: Partial<BeginJob>): Promise<void>;
  /** Sends the desk an event; with an id, once. */
  tell(name: string, value: Value, id?: string): Promise<void>;
  /** Lets everything happen that happens by itself now. */
  settle(): Promise<void>;
  /** What the desk heard of a job: its statuses with their codes. */
  heard(n: number): Promise<string[]>;
  /** All that the desk heard. */
  news(): Promise<JobChanged[]>;
  /** The items that have a slot, and those that wait. */
  pool(): Promise<{ readonly running: number; readonly waiting: number }>;
  job(n: number): Promise<Record<string, Value> | null>;
  close(): Promise<void>;
}

/** A job as the desk gives it. */
export function jobOf(n: number, task: string, more: Partial<BeginJob> = {}): BeginJob {
  return {
    n,
    kind: 'task',
    request_ref: null,
    details: { task },
    inputs: [],
    model: null,
    pool: POOL,
    priority: 0,
    timeout_ms: 60_000,
    grant: null,
    ...more,
  };
}

/** The desk as a part of a world. */
export const deskPart: WorldPart<undefined> = {
  name: 'desk',
  reducers: [deskReducer],
  policy: [{ send: `${QUEUE}/*`, who: `cell:${DESK}/*`, decision: 'allow' }],
  handle: () => undefined,
};

/** The app of these worlds. */
export const officeApp = () => appOf([workPart({ preparers: [preparer()] }), deskPart]);

/** Opens an office. */
export async function office({
  store = memory(),
  slots = 1,
  clock = new VirtualClock(),
  goesOn = false,
  change = (work) => work,
  more = {},
}: OfficeOptions = {}): Promise<Office> {
  const asked: ScriptRequest[] = [];
  const prepared: string[] = [];
  const model = scriptBy((request) => {
    asked.push(request);
    const at = request.messages.findIndex(({ text }) => /^Job \d+: /.test(text));
    const task = /^Job \d+: ([^\n]*)/.exec(request.messages[at]?.text ?? '')?.[1] ?? '';
    const step = request.messages.slice(at).filter(({ role }) => role === 'assistant').length;
    return { usage: { tokens_in: 10, tokens_out: 5 }, ...does(task, step, request.last) };
  });
  const work = change(workPart({ preparers: [preparer((task) => prepared.push(task))] }));
  const world = await openAgentWorld({
    store,
    clock,
    agents: [],
    tools: TOOLS,
    parts: [work, deskPart],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
    ...more,
  });
  const { kernel } = world;
  const tell = async (name: string, value: Value, id?: string) =>
    void (await kernel.request(desk, { name, value }, id === undefined ? {} : { id }));
  if (!goesOn) await tell('test/Open@1', { slots }, 'open');
  const news = async () => {
    const all: JobChanged[] = [];
    for await (const item of kernel.log(desk, 'heard')) all.push(item as unknown as JobChanged);
    return all;
  };
  return {
    world,
    clock,
    asked,
    prepared,
    hire: (n, task, rest) => tell('test/Hire@1', { job: jobOf(n, task, rest) as unknown as Value }),
    tell,
    settle: () => clock.settle(),
    news,
    heard: async (n) =>
      (await news())
        .filter((one) => one.n === n)
        .map(({ status, code }) => (code === undefined ? status : `${status} ${code}`)),
    pool: async () => ({
      running: (await kernel.table([QUEUE, POOL], 'running')).length,
      waiting: (await kernel.table([QUEUE, POOL], 'waiting')).length,
    }),
    job: async (n) => (await kernel.state(jobAddress('d', n))) as Record<string, Value> | null,
    close: () => world.close(),
  };
}

/** Opens an office, plays, and replays its journal. */
export async function inOffice(play: (office: Office) => Promise<void>, options: OfficeOptions = {}): Promise<void> {
  const store = options.store ?? memory();
  const open = await office({ ...options, store });
  try {
    await play(open);
    expect((await open.world.verify()).unverified).toBe(0);
  } finally {
    await open.close();
  }
  await verified(store);
}

/** Replays a store with nothing but the app. */
export async function verified(store: Store): Promise<void> {
  const read = await store.openReadonly();
  try {
    expect((await verifyStore(read, { app: officeApp() })).unverified).toBe(0);
  } finally {
    await read.close();
  }
}
