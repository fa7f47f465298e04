/** Plays a case on a real world: each build is a process of its own, and people decide as the case says. */
import { isRepriseError, memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import {
  type AgentWorld,
  type AnyAgent,
  deferred,
  defineAgent,
  defineTool,
  openWorld,
  type Pending,
  type Tool,
} from 'reprise';
import { script } from 'reprise/providers';
import { askHuman } from 'reprise/tools';
import { trees } from 'reprise/tree';
import * as z from 'zod';
import type { Approving, Build, Case, Mode, PayVersion, Shape, Wait } from './cases.js';
import { deciderOf, HOURS_EACH, type Seen } from './oracle.js';

/** A defect that a case is played with, to show that it is found. */
export interface Mutant {
  /** What the build says of a tool, in place of what it is. */
  readonly says?: (version: PayVersion, first: PayVersion, build: number) => PayVersion;
  /** Decides again, with the item of the answer, when an item has changed. */
  readonly blind?: true;
  /** A handler that was told to run does not. */
  readonly idle?: true;
}

const n = z.int();
const SHAPED: Readonly<Record<Shape, (label: string) => z.ZodObject>> = {
  plain: (label) => z.strictObject({ n: n.describe(label) }),
  optional: (label) => z.strictObject({ n: n.describe(label), note: z.string().optional() }),
  default: (label) => z.strictObject({ n: n.describe(label), currency: z.string().default('eur') }),
  narrow: (label) => z.strictObject({ n: n.max(5).describe(label) }),
  account: (label) => z.strictObject({ n: n.describe(label), account: z.string() }),
  scaled: (label) =>
    z.strictObject({ n: n.transform((all) => all * 100).describe(label), cents: z.string().optional() }),
};

type Rule = Parameters<typeof defineTool>[0]['approval'];

const APPROVING: Readonly<Record<Approving, unknown>> = {
  never: 'never',
  always: 'always',
  free: () => false,
  large: ({ args }: { args: { n: number } }) => args.n > 5 && args.n !== 300,
  ann: () => ({ reason: 'money', to: 'human:ann' }),
  bob: () => ({ reason: 'money', to: 'human:bob' }),
};

const ANSWERS: Readonly<Record<'any' | 'text' | 'choice', { readonly answer?: z.ZodType<string> }>> = {
  any: {},
  text: { answer: z.string() },
  choice: { answer: z.enum(['yes', 'no']) },
};

/** The final answers fit all of them. */
const RETURNS = {
  text: {},
  object: { returns: z.object({ done: z.boolean() }) },
  wider: { returns: z.object({ done: z.boolean(), note: z.string().optional() }) },
} as const;
const FINAL = '{"done":true}';

const HOUR_MS = 3_600_000;

/** Turns of the event loop in which a handler that begins again has asked. */
const TURNS = 20;

/** A request as a scripted model gets it. */
interface ScriptRequest {
  readonly last: string;
  readonly messages: readonly { readonly role: string; readonly text: string }[];
}

/** One world over its processes. */
class Played {
  readonly store = memory();
  readonly clock = new VirtualClock();
  readonly seen: Record<string, Seen> = {};
  /** The effects that were deferred. */
  readonly effects: string[] = [];
  readonly before = new Map<string, Pending>();
  #build = 0;
  #payer: AnyAgent | undefined;
  #listener: AnyAgent | undefined;
  #grove: ReturnType<typeof trees> | undefined;
  /** The nodes that have given their result. */
  readonly #completed = new Set<string>();

  constructor(
    private readonly one: Case,
    private readonly mutant: Mutant,
  ) {
    for (const wait of one.waits) this.seen[wait] = [];
  }

  async play(): Promise<Readonly<Record<string, Seen>>> {
    for (const [i, build] of this.one.builds.entries()) {
      this.#build = i;
      const world = await this.#open(build);
      try {
        if (i === 0) await this.#begin(world);
        else await this.#continue(world);
      } finally {
        await world.close();
      }
    }
    return this.seen;
  }

  #agentOf(build: Build): AnyAgent {
    const { description, note } = build.others;
    const args = note ? z.strictObject({ note: z.string().optional() }) : z.strictObject({});
    const order = defineTool({
      name: 'order',
      description,
      args,
      run: (_, { idempotencyKey }) => {
        this.effects.push(idempotencyKey);
        return deferred();
      },
    });
    const quiz = defineTool({
      name: 'quiz',
      description,
      args,
      guarantee: 'idempotent',
      run: async (_, ctx) => {
        const answer = await ctx.ask({ question: 'Sure?', ...ANSWERS[build.answers] });
        if ('value' in answer) return String(answer.value);
        throw new Error(`no answer: ${answer.how}`);
      },
    });
    const pay = build.pay === null ? [] : [this.#pay(build.pay)];
    const { instructions } = build;
    const tools = [...pay, order, quiz, askHuman()];
    return defineAgent({ name: 'payer', model: 'main', instructions, tools, ...RETURNS[build.returns] });
  }

  #pay(real: PayVersion): Tool {
    const first = this.one.builds[0]?.pay ?? real;
    const said = this.mutant.says?.(real, first, this.#build) ?? real;
    const build = this.#build;
    const tool = (version: PayVersion) =>
      defineTool({
        name: 'pay',
        description: version.description,
        args: SHAPED[version.shape](version.label),
        guarantee: version.guarantee,
        approval: APPROVING[version.approval] as Rule as 'always',
        timeout: `${version.seconds}s`,
        parallel: version.parallel,
        ...(version.output ? { output: z.string() } : {}),
        run: (args, { session, signal }) => {
          if (session.key === 'flying' && build === 0)
            return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          return this.mutant.idle === true ? 'nothing' : `paid ${JSON.stringify(sorted(args))}`;
        },
      });
    const made = tool(real);
    return (said === real ? made : { ...made, entry: tool(said).entry }) as unknown as Tool;
  }

  get #agent(): AnyAgent {
    if (this.#payer === undefined) throw new Error('no build is open');
    return this.#payer;
  }

  get #listening(): AnyAgent {
    if (this.#listener === undefined) throw new Error('no build is open');
    return this.#listener;
  }

  #open(build: Build): Promise<AgentWorld> {
    const agent = this.#agentOf(build);
    this.#payer = agent;
    const afterAnswer = { wait: `${build.hours}h` } as const;
    const listener = defineAgent({ name: 'listener', model: 'main', instructions: build.instructions, afterAnswer });
    this.#listener = listener;
    const grove = trees({ agents: [agent] });
    this.#grove = grove;
    const model = script(
      ...Array.from({ length: 64 }, () => ({ last, messages }: ScriptRequest) => {
        const [, session = ''] = /go (\w+)/.exec(messages.findLast(({ role }) => role === 'user')?.text ?? '') ?? [];
        if (session === 'listening') return { text: FINAL };
        if (this.#completed.has(session)) return { text: FINAL };
        if (messages.at(-1)?.role === 'user') return { calls: [CALLS[session as Calling](this.one.n)] };
        this.seen[session]?.push(`read: ${readIn(last)}`);
        if (!NODES.has(session as Wait)) return { text: FINAL };
        this.#completed.add(session);
        return { calls: [{ tool: 'complete', args: { result: 'ok' } }] };
      }),
    );
    const asks = { effect: 'tool.call@1#pay', decision: 'require_approval' } as const;
    const rest = [
      { effect: '*', decision: 'allow' },
      { send: '*', decision: 'allow' },
    ] as const;
    return openWorld({
      store: this.store,
      clock: this.clock,
      agents: [agent, listener],
      parts: this.one.waits.some((wait) => NODES.has(wait)) ? [grove] : [],
      ...(build.wrapped ? { wrapTool: (tool: Tool) => tool } : {}),
      models: { main: model },
      policy: build.policy === 'ask' ? [asks, ...rest] : rest,
      onError: () => undefined,
    });
  }

  async #begin(world: AgentWorld): Promise<void> {
    for (const wait of this.one.waits) if (!BUSY.has(wait)) await this.#say(world, wait);
    await world.pump();
    if (this.one.waits.includes('standing')) await this.#decide(world, 'standing', 'remember');
    for (const wait of APPROVED) for (const item of await waitingIn(world, wait)) this.before.set(wait, item);
    if (this.one.waits.includes('asking')) {
      await this.#say(world, 'asking');
      await this.#until(async () => (await world.pending({ session: 'asking' })).length > 0);
      for (const item of await waitingIn(world, 'asking')) this.before.set('asking', item);
    }
    if (!this.one.waits.includes('flying')) return;
    await this.#say(world, 'flying');
    await this.#until(async () => (await world.pending({ session: 'flying' })).length > 0 || this.#isFlying(world));
    for (const item of await world.pending({ session: 'flying' }))
      this.#told('flying', await this.#ask(world, item, { approve: true }));
    await this.#until(() => this.#isFlying(world));
  }

  async #isFlying(world: AgentWorld): Promise<boolean> {
    const state = await world.session('flying', this.#agent).state();
    return state?.calls[0]?.phase === 'running';
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    for (let i = 0; i < 200; i++) {
      if (await holds()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error('it does not come');
  }

  async #continue(world: AgentWorld): Promise<void> {
    const { waits, decidedIn, mode } = this.one;
    if (this.#build === 1 && waits.includes('asking')) await this.#answerAgain(world);
    await world.pump();
    for (const wait of APPROVED) {
      if (!waits.includes(wait)) continue;
      if (this.#build >= decidedIn) await this.#decide(world, wait, mode);
      else for (const item of await waitingIn(world, wait)) this.#lists(wait, item);
    }
    if (waits.includes('flying')) await this.#decide(world, 'flying', 'listed');
    if (waits.includes('standing')) {
      await this.#say(world, 'standing');
      await world.pump();
      await this.#decide(world, 'standing', 'listed');
    }
    if (this.#build === 1) await this.#settleOthers(world);
    if (waits.includes('listening')) await this.#letTimePass(world);
  }

  /** The handler that asks begins again, and its question is another one where the build changed it. */
  async #answerAgain(world: AgentWorld): Promise<void> {
    const [first, second] = this.one.builds;
    const isAnother = async () =>
      (await waitingIn(world, 'asking')).some(({ digest }) => digest !== this.before.get('asking')?.digest);
    if (first?.answers !== second?.answers) await this.#until(isAnother);
    else for (let i = 0; i < TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
    if (await isAnother()) this.#told('asking', 'asked again');
    await this.#answer(world, 'asking');
  }

  async #letTimePass(world: AgentWorld): Promise<void> {
    await this.clock.advance(HOURS_EACH * HOUR_MS);
    await world.pump();
    const run = await world.session('listening', this.#listening).run(0);
    const status = await run?.status();
    this.#told('listening', status?.status === 'ended' ? 'ended' : 'listens');
  }

  async #settleOthers(world: AgentWorld): Promise<void> {
    const { content } = world.kernel;
    for (const effect of this.effects) {
      const ref = await content.put(new TextEncoder().encode('arrived'));
      const meta = { original_bytes: 7, bounded_bytes: 7, truncated: false, policy_id: 'default' };
      const payload = { operator_output_ref: ref, model_output_ref: ref, truncation_meta: meta, is_error: false };
      const { status } = await world.settle(effect, { status: 'ok', payload });
      this.#told('deferred', `settled: ${status}`);
    }
    await this.#answer(world, 'question');
    await this.#answer(world, 'asker');
    await world.pump();
  }

  async #answer(world: AgentWorld, session: Wait): Promise<void> {
    for (const item of await waitingIn(world, session)) {
      const { status } = await world.decide(item, { answer: 'yes' }, { as: 'human:ann' });
      this.#told(session, `answered: ${status}`);
    }
  }

  async #say(world: AgentWorld, wait: Wait): Promise<void> {
    const goal = `go ${wait}`;
    if (this.#grove !== undefined && NODES.has(wait)) await world.part(this.#grove).start(wait, { goal });
    else if (wait === 'child') await world.session(wait, this.#agent).spawn(this.#agent, goal);
    else await world.session(wait, wait === 'listening' ? this.#listening : this.#agent).send(goal);
  }

  /** As `decided` of the oracle. */
  async #decide(world: AgentWorld, session: Wait, first: Mode): Promise<void> {
    for (let mode = first, i = 0; i < 8; mode = 'listed', i++) {
      const [item] = await waitingIn(world, session);
      if (item === undefined) return;
      this.#lists(session, item);
      const what = mode === 'by id' ? item.id : mode === 'as seen before' ? (this.before.get(session) ?? item) : item;
      if (mode === 'deny') {
        this.#told(session, await this.#ask(world, what, { deny: 'no' }));
      } else {
        const decision =
          mode === 'remember' ? ({ approve: true, remember: true } as const) : ({ approve: true } as const);
        const told = await this.#ask(world, what, decision, { item, session });
        this.#told(session, told);
        if (told === 'refused') this.#told(session, await this.#ask(world, item, { deny: 'no' }));
      }
      await world.pump();
    }
    throw new Error('it is asked about for ever');
  }

  async #ask(
    world: AgentWorld,
    what: Pending | string,
    decision: { readonly approve: true; readonly remember?: true } | { readonly deny: string },
    shown: { readonly item?: Pending; readonly session?: string } = {},
  ): Promise<string> {
    const to = shown.item?.to ?? (typeof what === 'string' ? 'human:*' : what.to);
    const as = deciderOf(to) as `human:${string}`;
    try {
      const { status, item } = await world.decide(what, decision, { as });
      if (status !== 'changed' || item === undefined) return `${'deny' in decision ? 'denied' : 'approved'}: ${status}`;
      if (this.mutant.blind !== true) this.#told(shown.session ?? '', 'changed');
      return await this.#ask(world, item, decision, shown);
    } catch (error) {
      if (isRepriseError(error, 'invalid_value') || isRepriseError(error, 'invalid_argument')) return 'refused';
      throw error;
    }
  }

  #lists(session: string, { to, changed }: Pending): void {
    this.#told(session, `waits for ${to}${changed === undefined ? '' : ', changed'}`);
  }

  #told(session: string, what: string): void {
    this.seen[session]?.push(what);
  }
}

/** What waits while its handler is at work: nothing can be waited for in that process. */
const BUSY: ReadonlySet<Wait> = new Set(['flying', 'asking']);

/** Calls that wait for an approval, in a session of an app, of another session and of a tree. */
const APPROVED: readonly Wait[] = ['waiting', 'child', 'node'];

const NODES: ReadonlySet<Wait> = new Set(['node', 'asker']);

/** What waits for a person in the session, or in the tree, of a wait. */
async function waitingIn(world: AgentWorld, wait: Wait): Promise<readonly Pending[]> {
  if (NODES.has(wait)) return world.pending({ label: { tree: wait } });
  return world.pending({ session: wait === 'child' ? 'child.c1' : wait });
}

/** What a model calls; who listens has called nothing. */
type Calling = Exclude<Wait, 'listening'>;

const CALLS: Readonly<
  Record<Calling, (n: number) => { readonly tool: string; readonly args: Record<string, string | number> }>
> = {
  waiting: (n) => ({ tool: 'pay', args: { n } }),
  flying: (n) => ({ tool: 'pay', args: { n } }),
  standing: (n) => ({ tool: 'pay', args: { n } }),
  deferred: () => ({ tool: 'order', args: {} }),
  asking: () => ({ tool: 'quiz', args: {} }),
  question: () => ({ tool: 'ask_human', args: { question: 'Sure?' } }),
  child: (n) => ({ tool: 'pay', args: { n } }),
  node: (n) => ({ tool: 'pay', args: { n } }),
  asker: () => ({ tool: 'ask', args: { question: 'Sure?', target: 'human', returns: 'text' } }),
};

function sorted(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What the model reads of a call, in one word where it is no answer. */
function readIn(text: string): string {
  if (text.includes('has changed since')) return 'changed';
  if (text.includes('do not fit the schema')) return 'invalid';
  if (text.includes('There is no tool') || text.includes('tool_not_found')) return 'not found';
  if (text.includes('denied')) return 'denied';
  return /^<said by="content of the answer: answer">\n(.*)\n<\/said>$/m.exec(text)?.[1] ?? text;
}

/** Plays a case. @returns what is seen, by session */
export function played(one: Case, mutant: Mutant = {}): Promise<Readonly<Record<string, Seen>>> {
  return new Played(one, mutant).play();
}
