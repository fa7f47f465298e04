/**
 * The law of AG-UI streams: each of them is accepted by `verifyEvents` and breaks none of our rules, wherever its connection was
 * cut, and the messages that a client has in the end are the transcript of the session, to the byte.
 */
import type { AgentWorld, Cursor, Session } from '@reprise/agent';
import { readLlmOutput, readText } from '@reprise/agent';
import { isRepriseError, type Value } from '@reprise/contracts';
import { getValue } from '@reprise/kernel/store';
import type { ModelClient } from '../../../../reprise/src/providers.js';
import { scriptBy } from '../../../../reprise/src/providers.js';
import { eventsOf, type RecordingAgent, refusedBy } from './client.js';
import type { Act, History, ModelAnswer } from './histories.js';
import { brokenRules, type SeenEvent } from './rules.js';
import type { agUiWorld } from './world.js';

type Served = Awaited<ReturnType<typeof agUiWorld>>;

/** A served world that plays one history after the other, each in a thread of its own. */
export class Stage {
  readonly model: ModelClient;
  #answers: readonly ModelAnswer[] = [];
  #n = 0;
  #histories = 0;

  constructor() {
    this.model = modelOf(() => this.#answers[this.#n++]);
  }

  /** Plays a history; throws what differs. @returns how many streams were checked */
  async hold(served: Served, { answers, acts }: History): Promise<number> {
    this.#answers = answers;
    this.#n = 0;
    const player = new Player(served, `thread-${this.#histories++}`);
    return player.play(acts);
  }
}

/** Plays one history, as one person with one client. */
class Player {
  #client: RecordingAgent | undefined;
  /** A place before the thread began. */
  readonly #from: Cursor;
  #n = 0;
  #streams = 0;
  /** Whether the last answer came too late: then a client goes on without one. */
  #isLate = false;

  constructor(
    private readonly served: Served,
    private readonly thread: string,
  ) {
    this.#from = `${served.world.kernel.head.seq}.0`;
  }

  async play(acts: readonly Act[]): Promise<number> {
    for (const act of acts) {
      await this.#do(act);
    }
    // What happened elsewhere, and then what waits, until nothing does.
    for (let i = 0; i < 40; i++) {
      const waited = this.#agent.pendingInterrupts.length > 0;
      await this.#run(QUIET);
      if (!waited && this.#agent.pendingInterrupts.length === 0) break;
    }
    const { session } = this;
    same('the messages', told(this.#agent.messages), await recorded(this.served.world, session, this.#from));
    return this.#streams;
  }

  get session(): Session {
    return this.served.world.session(`ann/${this.thread}`, this.served.clerk);
  }

  get #agent(): RecordingAgent {
    if (this.#client === undefined) throw new Error('no client');
    return this.#client;
  }

  async #do(act: Act): Promise<void> {
    if (this.#client === undefined || act.do === 'new page') {
      this.#client = await this.served.as('human:ann', this.thread);
      if (act.do === 'new page') return this.#run({ ...act, do: 'again' });
    }
    if (act.do === 'from elsewhere') await this.#elsewhere();
    await this.#run(act);
  }

  /** A message that the client does not know of. */
  async #elsewhere(): Promise<void> {
    if ((await this.session.state()) === undefined) return;
    await this.session.send(`elsewhere ${++this.#n}`, { id: `e${this.#n}`, as: 'human:ann' });
  }

  /** One run of the protocol, and again as long as its connection is cut. */
  async #run(act: Act): Promise<void> {
    const agent = this.#agent;
    const runId = `run-${++this.#n}`;
    const resume = agent.pendingInterrupts.map((item) => answerTo(item, this.#isLate ? 'cancel' : act.answer));
    const says = resume.length === 0 ? ({ say: 1, 'say twice': 2 }[act.do as string] ?? 0) : 0;
    for (let i = 0; i < says; i++) agent.say(`m${++this.#n}`, `message ${this.#n}`);
    if (act.cut > 0) agent.cutAfter = act.cut;
    const cancelled = this.#cancelAfter(act.cancel);
    for (let tries = 0; ; tries++) {
      const had = structuredClone(agent.messages);
      const failed = await agent.runAgent({ runId, ...(resume.length > 0 ? { resume } : {}) }).then(
        () => undefined,
        (error: unknown) => error,
      );
      const { last } = agent;
      if (last.status !== 200) throw new Error(`answered ${last.status}: ${last.text}`);
      if (!last.wasCut && failed !== undefined) throw new Error(`the client refuses: ${String(failed)}\n${last.text}`);
      if (!last.wasCut) {
        await this.#check(eventsOf(last.text), runId, had as never);
        break;
      }
      if (tries > 5) throw new Error('cut again and again');
    }
    await cancelled;
    const events = eventsOf(agent.last.text);
    this.#isLate = events.at(-1)?.code === 'already_settled';
    await this.#compare(events.at(-1));
    await this.#goOn(events);
  }

  async #check(events: readonly SeenEvent[], runId: string, had: readonly { readonly id: string }[]): Promise<void> {
    this.#streams += 1;
    const shown = `\n${events.map((event) => JSON.stringify(event)).join('\n')}`;
    const refusal = await refusedBy(events);
    if (refusal !== undefined) throw new Error(`verifyEvents refuses: ${refusal}${shown}`);
    const pending = (await this.served.world.pending()).map(({ id }) => id);
    const requested = await requestedIn(this.session, this.#from);
    const broken = brokenRules(events, {
      threadId: this.thread,
      runId,
      had,
      // What was decided elsewhere since then had been asked in this session.
      pending: [...pending, ...requested],
    });
    if (broken.length > 0) throw new Error(`broken: ${broken.join(', ')}${shown}`);
  }

  /** When nothing is under way behind a stream, its client has the whole transcript. */
  async #compare(end: SeenEvent | undefined): Promise<void> {
    if ((end?.outcome as { readonly type?: string } | undefined)?.type !== 'success') return;
    const { run, queued } = (await this.session.state()) ?? {};
    if (run !== null || queued !== 0) return;
    same(
      'the messages of a stream',
      told(this.#agent.messages),
      await recorded(this.served.world, this.session, this.#from),
    );
  }

  async #cancelAfter(turns: number): Promise<void> {
    if (turns === 0) return;
    for (let i = 0; i < turns; i++) await turn();
    if ((await this.session.state()) !== undefined) await this.session.cancel().catch(refused);
  }

  /** After a failure the messages that wait behind it are taken up by a command. */
  async #goOn(events: readonly SeenEvent[]): Promise<void> {
    if (events.at(-1)?.type === 'RUN_FINISHED' && !JSON.stringify(events.at(-1)).includes('cancelled')) return;
    const state = await this.session.state();
    if ((state?.queued ?? 0) > 0) await this.session.resume().catch(refused);
  }
}

const QUIET: Act = { do: 'again', answer: 'approve', cut: 0, cancel: 0 };

type Pending = RecordingAgent['pendingInterrupts'][number];

function answerTo({ id, reason }: Pending, how: Act['answer']) {
  if (how === 'cancel') return { interruptId: id, status: 'cancelled' as const };
  const decision =
    how === 'deny'
      ? { approved: false, reason: 'no' }
      : { approved: true, ...(how === 'edit' ? { editedArgs: { cents: 7 } } : {}) };
  return { interruptId: id, status: 'resolved' as const, payload: reason === 'input_required' ? 'yes' : decision };
}

/** What was asked in a session and below it, whenever that was. */
async function requestedIn(session: Session, after: Cursor): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const event of session.events({ follow: false, tree: true, after }))
    if (event.type === 'human.requested') found.push(event.id);
  return found;
}

/** A command that does not fit the moment. */
function refused(error: unknown): void {
  if (!isRepriseError(error, 'request_rejected') && !isRepriseError(error, 'run_failed')) throw error;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A model that streams anything before it answers. */
function modelOf(nextAnswer: () => ModelAnswer | undefined): ModelClient {
  let current: ModelAnswer | undefined;
  const final = scriptBy(() => {
    const { text = 'End.', reasoning = '', calls = [], fails = false } = current ?? {};
    if (fails) return { fail: 'provider_error_terminal/refused' };
    return {
      ...(text === '' && calls.length === 0 ? { text: '.' } : { text }),
      ...(reasoning === '' ? {} : { reasoning }),
      calls: calls.map((call) => CALLS[call]),
    };
  });
  return {
    ...final,
    generate: async (request, context) => {
      current = nextAnswer();
      for (const attempt of current?.attempts ?? []) {
        context.progress({ type: 'delta.reset' });
        for (const piece of attempt) {
          context.progress({ type: 'delta', index: 0, ...piece });
          await turn();
        }
      }
      return final.generate(request, { ...context, progress: () => undefined });
    },
  };
}

const CALLS: Readonly<Record<ModelAnswer['calls'][number], { readonly tool: string; readonly args: Value }>> = {
  paid: { tool: 'pay', args: { cents: 500 } },
  free: { tool: 'pay', args: { cents: 5 } },
  unlucky: { tool: 'pay', args: { cents: 13 } },
  asks: { tool: 'ask_human', args: { question: 'Well?' } },
  unknown: { tool: 'nothing', args: {} },
  unfit: { tool: 'pay', args: { cents: 'many' } },
  spawns: { tool: 'spawn_agent', args: { agent: 'helper', task: 'help' } },
  waits: { tool: 'wait_agents', args: {} },
};

/** The messages of a client, as far as a transcript has them: results of one answer in any order. */
function told(messages: readonly { readonly role: string }[]): readonly string[] {
  const lines = (messages as readonly (SeenEvent & { readonly role: string })[]).flatMap((message) => {
    const { role, content, toolCalls = [], toolCallId } = message;
    if (role === 'reasoning') return content === '' ? [] : [`reasoning ${content}`];
    if (role === 'tool') return [`tool ${lastOf(String(toolCallId))} ${content}`];
    const calls = (toolCalls as readonly { readonly id: string; readonly function: object }[]).map(
      ({ id, function: made }) => `${lastOf(id)} ${JSON.stringify(made)}`,
    );
    return [`${role} ${content ?? ''} ${calls.join(' ')}`];
  });
  return ordered(lines);
}

const lastOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

/** The same of the transcript, from the content that it links. */
async function recorded(
  { kernel: { content } }: AgentWorld,
  session: Session,
  after: Cursor,
): Promise<readonly string[]> {
  const lines: string[] = [];
  // A call that is cancelled before it is requested stands in the transcript, and no event tells of it.
  const requested = new Set<string>();
  for await (const event of session.events({ follow: false, after }))
    if (event.type === 'tool.requested') requested.add(event.call_id);
  for await (const item of session.transcript()) {
    if (item.role === 'user') {
      const texts = item.parts.map((part) => (part.kind === 'text' ? readText(content, part.text_ref) : ''));
      if (item.origin !== 'loop' && item.origin !== 'repair')
        lines.push(`user ${(await Promise.all(texts)).join('')} `);
    }
    if (item.role === 'assistant') {
      const output = await readLlmOutput(content, item.output_ref);
      const thoughts = (output.opaque ?? []).flatMap(({ kind, text }) => (kind === 'reasoning' ? [text ?? ''] : []));
      if (thoughts.join('') !== '') lines.push(`reasoning ${thoughts.join('')}`);
      const calls = await Promise.all(
        item.calls
          .filter(({ call_id }) => requested.has(call_id))
          .map(async ({ call_id, tool, args_ref }) => {
            const args = JSON.stringify(await getValue(content, args_ref));
            return `${call_id} ${JSON.stringify({ name: tool, arguments: args })}`;
          }),
      );
      if ((output.text ?? '') !== '' || calls.length > 0)
        lines.push(`assistant ${output.text ?? ''} ${calls.join(' ')}`);
    }
    if (item.role === 'tool' && requested.has(item.call_id)) {
      const text = item.output_ref === undefined ? '…' : await readText(content, item.output_ref);
      lines.push(`tool ${item.call_id} ${text}`);
    }
  }
  return ordered(lines);
}

/** Neighbors that are results, and reasoning beside its answer, in an order of their own. */
function ordered(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  let results: string[] = [];
  const flush = () => {
    found.push(...results.toSorted());
    results = [];
  };
  for (const line of lines) {
    if (line.startsWith('reasoning ')) continue;
    if (line.startsWith('tool ')) results.push(line);
    else {
      flush();
      found.push(line);
    }
  }
  flush();
  return [...found, ...lines.filter((line) => line.startsWith('reasoning '))];
}

function same(what: string, found: readonly string[], expected: readonly string[]): void {
  const differs = expected.findIndex((line, i) => !fits(found[i], line));
  if (differs < 0 && found.length === expected.length) return;
  throw new Error(
    `differs: ${what} at ${differs}\n found\n  ${found.join('\n  ')}\n recorded\n  ${expected.join('\n  ')}`,
  );
}

/** Results that have no text in the transcript are told in words of the server. */
function fits(found: string | undefined, expected: string): boolean {
  if (!expected.endsWith(' …')) return found === expected;
  return found?.startsWith(expected.slice(0, -1)) === true;
}
