/** Random histories of a session whose calls its owner answers, and what must hold after each step of them. */
import type { Value } from '@reprise/contracts';
import { type App, defineApp, type ReducerContext, type ReducerDefinition } from '@reprise/kernel/define';
import fc from 'fast-check';
import { SESSION_REDUCER, type SessionState } from '../../src/contracts/index.js';
import type { OwnerCall } from '../../src/contracts/owner.js';
import { OWNER, ownerApp } from './owner-cell.js';
import { KEY, Scene } from './scene.js';

const DOES = ['answer', 'park', 'reject', 'twice', 'huge', 'nothing'] as const;
const COMMANDS = ['Pause', 'Resume', 'Steer', 'turn', 'run', 'all'] as const;

/** One step of a history. */
type Step =
  | { readonly step: 'input' | 'crash' }
  | { readonly step: 'model'; readonly calls: readonly ((typeof DOES)[number] | 'tool')[] }
  | { readonly step: 'owner'; readonly which: number; readonly how: 'answer' | 'park' }
  | { readonly step: 'tool'; readonly which: number }
  | { readonly step: 'program'; readonly does: (typeof DOES)[number] }
  | { readonly step: 'command'; readonly what: (typeof COMMANDS)[number] }
  | { readonly step: 'time'; readonly ms: number };

const which = fc.nat(5);

/** Histories: inputs, answers with calls, what the owner does with them, tools, programs, commands, time and crashes. */
export const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ step: fc.constantFrom('input' as const, 'crash' as const) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        step: fc.constant('model' as const),
        calls: fc.array(fc.constantFrom(...DOES, 'nothing', 'park', 'tool', 'tool'), { maxLength: 3 }),
      }),
    },
    {
      weight: 9,
      arbitrary: fc.record({
        step: fc.constant('owner' as const),
        which,
        how: fc.constantFrom('answer', 'answer', 'park'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ step: fc.constant('tool' as const), which }) },
    { weight: 2, arbitrary: fc.record({ step: fc.constant('program' as const), does: fc.constantFrom(...DOES) }) },
    { weight: 2, arbitrary: fc.record({ step: fc.constant('command' as const), what: fc.constantFrom(...COMMANDS) }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('time' as const), ms: fc.constantFrom(1, 900, 60_000) }) },
  ),
  { maxLength: 24 },
);

/** Plays a history and replays its journal. @throws Error what did not hold */
export async function holdOwnerCalls(steps: readonly Step[], app: App = ownerApp): Promise<void> {
  const history = new History(app);
  history.take({ step: 'input' });
  for (const step of steps) history.take(step);
  history.end();
  await history.scene.world.verify();
}

type Open = SessionState['calls'][number];

const isOpenOwnerCall = ({ session, phase }: Open) =>
  session?.op === 'owner' && (phase === 'running' || phase === 'owner');

class History {
  readonly scene: Scene;
  /** What the owner answered and the session had to take: the value, and the call. */
  readonly #taken = new Map<number, string>();
  readonly #parked = new Set<string>();
  #programs = 0;
  #values = 0;

  constructor(app: App) {
    this.scene = new Scene({ limits: { max_wall_ms: 600_000 } }, { app, maker: OWNER });
  }

  take(step: Step): void {
    const before = this.#owned().length;
    this.#do(step);
    for (const call of this.#owned().slice(before)) if (doOf(call) === 'park') this.#parked.add(placeOf(call));
    this.#check(step);
  }

  /** Lets everything end that is under way: the run ends, whatever came before. */
  end(): void {
    for (let round = 0; round < 100; round++) {
      const { lifecycle, calls } = this.scene.state();
      if (lifecycle === 'Paused') this.take({ step: 'command', what: 'Resume' });
      else if (this.scene.running().length > 0) this.take({ step: 'tool', which: 0 });
      else if (this.scene.working('llm.generate@2').length > 0) this.take({ step: 'model', calls: [] });
      else if (calls.some(isOpenOwnerCall)) this.#answerAll();
      else if (!['Idle', 'Completed', 'Failed', 'Cancelled'].includes(lifecycle))
        this.take({ step: 'time', ms: 10_000 });
      else return this.#checkEnd();
    }
    throw new Error(`the run does not end: ${this.scene.lifecycle()}`);
  }

  #do(step: Step): void {
    switch (step.step) {
      case 'input':
        return void this.scene.input();
      case 'crash':
        return this.scene.world.crash();
      case 'model':
        return this.#modelAnswers(step.calls);
      case 'owner':
        return this.#ownerActs(step.which, step.how);
      case 'tool': {
        const running = this.scene.running();
        const id = running[step.which % Math.max(1, running.length)];
        return id === undefined ? undefined : this.scene.toolAnswers(id);
      }
      case 'program':
        return this.#programCalls(step.does);
      case 'command':
        return this.#command(step.what);
      case 'time':
        return this.scene.later(step.ms);
    }
  }

  #modelAnswers(calls: readonly string[]): void {
    if (this.scene.working('llm.generate@2').length === 0) return;
    const asked = calls.map((does, i) => {
      const id = 'abc'[i] ?? 'd'; // ids come again in later steps
      return does === 'tool'
        ? { id }
        : { id, tool: 'report', session: { op: 'owner' as const, name: 'report', args: { do: does } } };
    });
    this.scene.answer({ calls: asked });
  }

  #ownerActs(which: number, how: 'answer' | 'park'): void {
    const owned = this.#owned();
    const nth = which % Math.max(1, owned.length);
    const call = owned[nth];
    if (call === undefined || call.call_id.startsWith('x.')) return;
    const { call_id } = call;
    const isOpen = this.#isOpen(call);
    if (how === 'park') {
      this.scene.world.request(...OWNER, 'test/Park@1', { call_id, nth });
      if (isOpen) this.#parked.add(placeOf(call));
      return;
    }
    const value = ++this.#values;
    const before = this.scene.bytes();
    this.scene.world.request(...OWNER, 'test/Answer@1', { call_id, nth, value, refs: [], is_error: false });
    if (isOpen) this.#taken.set(value, call_id);
    if (isOpen && this.#isOpen(call)) throw new Error(`an answer to the open call ${placeOf(call)} is lost`);
    if (!isOpen && !same(before, this.scene.bytes()))
      throw new Error(`a late answer to ${placeOf(call)} changes the session`);
  }

  #programCalls(does: string): void {
    const [work] = this.scene.working('tool.call@1');
    const value = { call_id: `${this.#programs++}`, name: 'report', args: { do: does } };
    this.scene.world.request(SESSION_REDUCER, KEY, 'aos.agent/OwnerCalled@1', value, {
      as: `adapter:${work?.effect ?? 'none'}`,
    });
  }

  #command(what: (typeof COMMANDS)[number]): void {
    if (what === 'Steer') this.scene.steer();
    else if (what === 'Pause' || what === 'Resume') this.scene.command({ type: what });
    else this.scene.command({ type: 'Cancel', scope: what });
  }

  #answerAll(): void {
    for (const [which, call] of this.#owned().entries())
      if (this.#isOpen(call)) this.take({ step: 'owner', which, how: 'answer' });
  }

  #owned(): readonly OwnerCall[] {
    const owner = this.scene.world.cell(...OWNER)?.state as unknown as { readonly calls: readonly OwnerCall[] };
    return owner.calls;
  }

  #isOpen({ call_id, step_epoch }: OwnerCall): boolean {
    const { step_epoch: now, calls } = this.scene.state();
    return now === step_epoch && calls.some((call) => call.call_id === call_id && isOpenOwnerCall(call));
  }

  #check({ step }: Step): void {
    const places = this.#owned().map(placeOf);
    if (new Set(places).size < places.length) throw new Error(`after ${step}: a call reaches the owner twice`);
    requireWhole(this.scene.transcript(), this.#taken);
    const { calls, step_epoch, run, stopping, lifecycle } = this.scene.state();
    const open = calls.filter(({ phase }) => phase !== 'settled');
    for (const call of open.filter(isOpenOwnerCall)) {
      const isParked = this.#parked.has(`${step_epoch}/${call.call_id}`);
      if (isParked !== (call.phase === 'owner'))
        throw new Error(`after ${step}: the call ${call.call_id} is ${call.phase}`);
    }
    const waits = open.length > 0 && open.every(({ phase }) => phase === 'owner');
    const counts = run !== null && stopping === null && lifecycle !== 'Paused';
    if (counts && waits !== (this.scene.lifecycle() === 'WaitingInput: owner'))
      throw new Error(
        `after ${step}: the run is ${this.scene.lifecycle()} while its calls are ${open.map(({ phase }) => phase).join()}`,
      );
  }

  #checkEnd(): void {
    const left = this.scene.state().calls.filter(({ phase }) => phase !== 'settled');
    if (left.length > 0) throw new Error('a call is open behind the end of the run');
  }
}

function doOf({ args }: OwnerCall): Value | undefined {
  return (args as { readonly do?: Value }).do;
}

function placeOf({ step_epoch, call_id }: OwnerCall): string {
  return `${step_epoch}/${call_id}`;
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Each call has one result before the model answers again, and a value is a result of the call that it answered. */
function requireWhole(transcript: readonly string[], taken: ReadonlyMap<number, string>): void {
  let asked: readonly string[] = [];
  const results: string[] = [];
  const close = (): void => {
    if (results.join() !== [...asked].join())
      throw new Error(`the calls ${asked.join()} have the results ${results.join()}`);
  };
  for (const line of transcript) {
    const [, id, said] = /^result ([^:]+): (.*)$/.exec(line) ?? [];
    if (id !== undefined) {
      results.push(id);
      const value = Number(said);
      // 1 and 2 are also what the owner says twice.
      if (value > 2 && taken.get(value) !== id)
        throw new Error(`${line}, which answered ${taken.get(value) ?? 'nothing'}`);
    } else if (line.startsWith('assistant')) {
      close();
      results.length = 0;
      asked = line
        .slice(line.indexOf(':') + 1)
        .trim()
        .split(' ')
        .filter(Boolean);
    }
  }
}

/** What a planted mistake does with an event: it gives what the session takes instead, or undefined to ignore it. */
export type Tamper = (
  event: { readonly name: string; readonly value: unknown },
  draft: SessionState,
  ctx: ReducerContext,
) => { readonly name: string; readonly value: unknown } | undefined;

/** The app with a planted mistake in sessions. */
export function withMistake(tamper: Tamper): App {
  const session = ownerApp.reducers.get(SESSION_REDUCER) as ReducerDefinition;
  const wrong: ReducerDefinition = {
    ...session,
    reduce(draft, event, ctx) {
      const instead = tamper(event, draft as SessionState, ctx);
      return instead === undefined ? undefined : session.reduce(draft, instead, ctx);
    },
  };
  return defineApp({
    reducers: [...ownerApp.reducers.values()].map((one) => (one === session ? wrong : one)),
    plans: [...ownerApp.plans.values()],
    ...(ownerApp.policy === undefined ? {} : { policy: ownerApp.policy }),
  });
}
