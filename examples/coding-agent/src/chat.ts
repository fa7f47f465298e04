/**
 * A conversation at the terminal: typed lines become commands of a session, and its events become printed lines.
 *
 * There is no agent loop here, and nothing to resume: the run is in the journal, and this program only watches it. So
 * it can be killed at any moment; the next process shows the current state of the run and continues watching.
 */
import { randomUUID } from 'node:crypto';
import { type AgentEvent, type CommandReceipt, type Delta, isRepriseError, type Run } from 'reprise';
import type { Allowed } from './approvals/allowed.js';
import { readTyped } from './approvals/answers.js';
import { REFUSED } from './approvals/asking.js';
import { COMMANDS } from './commands.js';
import { Decisions, labelFor } from './decisions.js';
import { type Desk, type DeskOptions, openDesk } from './desk.js';
import type { History } from './history.js';
import { PERSON, pausedLines } from './person.js';
import { openTerminal } from './terminal/open.js';
import { RunView } from './terminal/run-view.js';
import type { Terminal } from './terminal/terminal.js';
import { plain } from './terminal/text/plain.js';
import { type Line, span } from './terminal/text/spans.js';
import { usageLine } from './usage.js';

/** Texts up to this length are shown whole. */
const INLINE_BYTES = 1024 * 1024;
const TICK_MS = 1_000;

/** What a conversation begins with. */
export interface ChatParts {
  readonly desk: Desk;
  /** What the user has allowed in the folder, and typed there. */
  readonly allowed: Allowed;
  readonly history: History;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** A user at a terminal, and the session that the user talks to. */
export class Chat {
  /** The open world and session. */
  desk: Desk;
  readonly allowed: Allowed;
  readonly view: RunView;
  readonly #terminal: Terminal;
  readonly #history: History;
  readonly #decisions: Decisions;
  readonly #ticks: NodeJS.Timeout;
  /** Typed lines are handled in the order in which they were typed, and after the conversation has begun. */
  #typed: Promise<void> = Promise.resolve();
  readonly #sent = new Set<string>();
  /** The watched run, and the promise of its end. */
  #run: Run<string> | undefined;
  #watching: Promise<void> = Promise.resolve();
  #interrupts = 0;
  /** The world is being closed, so a run that stops with it has not failed. */
  #isClosing = false;
  #leave: (code: number) => void = () => undefined;
  /** The exit code, once the user has quit. */
  readonly left: Promise<number>;

  constructor({ desk, allowed, history, input, output }: ChatParts) {
    this.desk = desk;
    this.allowed = allowed;
    this.#history = history;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#terminal = openTerminal(input, output, this.#events(), history.entries);
    this.view = new RunView(this.#terminal, desk.options.folder, (id) => this.#sent.has(id));
    this.#decisions = new Decisions({
      terminal: this.#terminal,
      view: this.view,
      desk: () => this.desk,
      allowed: () => this.allowed,
      inOrder: (work) => this.#then(work),
      tell: (...lines) => this.tell(...lines),
      complain: (text) => this.complain(text),
    });
    this.#ticks = setInterval(() => this.view.tick(), TICK_MS);
  }

  /** Whether a run is in progress. */
  get isWorking(): boolean {
    return this.#run !== undefined;
  }

  /** Prints the current state, and continues what was left. Lines that are typed meanwhile wait for it. */
  begin(hint: (chat: Chat) => Promise<void>): Promise<void> {
    this.#terminal.print(
      [span('coding agent', 'bold'), span(`  ${this.desk.options.folder}`)],
      [span(`model ${this.desk.model} · conversation ${this.desk.session.key} · world ${this.desk.file}`, 'dim')],
      [span('It asks before it writes or runs anything. /help says what you can type.', 'dim')],
      '',
    );
    this.#then(async () => {
      await this.#goOn();
      await hint(this);
    });
    return this.#typed;
  }

  /** Switches to another world, session or model. If that fails, it opens the previous one again. */
  async move(options: DeskOptions): Promise<void> {
    const { options: before, number: world } = this.desk;
    await this.#close();
    try {
      this.desk = await openDesk(options);
    } catch (error) {
      this.desk = await openDesk({ ...before, world, fresh: false });
      throw error;
    } finally {
      this.#isClosing = false;
    }
    await this.#goOn();
  }

  /** Closes the world and exits. A run in progress continues when the world is opened again. */
  async leave(code: number): Promise<void> {
    if (this.#isClosing) return;
    clearInterval(this.#ticks);
    const { isWorking } = this;
    this.view.does('');
    await this.#close();
    await this.#history.written();
    this.#terminal.footer('');
    this.#terminal.label([]);
    if (isWorking) this.tell('The run is not over: start me again here, and it goes on.');
    this.#terminal.close();
    this.#leave(code);
  }

  /** Ctrl-C: stops the run; a second time, quits. */
  interrupt(): void {
    this.#interrupts += 1;
    if (this.#interrupts > 1) void this.leave(130);
    else if (!this.isWorking) this.tell('Ctrl-C once more leaves; so does /quit.');
    else {
      this.tell('stopping …  Ctrl-C once more leaves at once');
      this.#stop('Ctrl-C');
    }
  }

  /** Sends a text to the agent: to the run in progress, or as a new message. */
  async say(text: string): Promise<void> {
    if (this.isWorking && (await this.steer(text))) return;
    await this.#watching; // it has just ended
    const id = randomUUID();
    this.#sent.add(id);
    this.#watch(await this.desk.session.send(text, { ...PERSON, id }));
  }

  /** Sends a text to the run in progress; false if no run is in progress. */
  async steer(text: string): Promise<boolean> {
    const receipt = await this.desk.session.steer(text, PERSON);
    if (receipt.status === 'rejected' && ['not_running', 'session_absent'].includes(receipt.code)) return false;
    this.told(receipt, 'it reads that before its next step');
    return true;
  }

  /** Prints lines. */
  tell(...lines: readonly string[]): void {
    this.#terminal.print(...lines.map((line) => (line === '' ? line : [span(line, 'dim')])));
  }

  /** Prints the result of a command. */
  told(receipt: CommandReceipt, accepted: string): void {
    if (receipt.status === 'accepted') this.tell(accepted);
    else this.complain(REFUSALS[receipt.code] ?? `not now: ${receipt.code}`);
  }

  /** Prints an error. */
  complain(text: string): void {
    this.#terminal.print(...text.split('\n').map((line) => [span(line, 'red')]));
  }

  /** Asks the user about a typed command, yes or no. The end of the input is a no. */
  async ask(question: string): Promise<boolean> {
    const asked = this.#decisions.ask(question);
    this.#relabel();
    return asked;
  }

  /** Shows a text whole. */
  page(title: string, lines: readonly Line[]): Promise<void> {
    return this.#terminal.page(title, lines);
  }

  #events() {
    return {
      line: (text: string) => this.#take(text),
      interrupt: () => this.interrupt(),
      dropped: () => this.#decisions.dropped(),
      escape: () => {
        if (this.isWorking) this.#stop('Esc');
      },
      expand: () => this.#command('/show'),
      view: () => this.#decisions.view(),
      complete: (text: string) =>
        text.startsWith('/') ? COMMANDS.map(({ name }) => `/${name}`).filter((name) => name.startsWith(text)) : [],
      read: () => this.#decisions.read(),
      end: () => this.#end(),
    };
  }

  /** Takes a submitted line; true if it belongs into the history. */
  #take(text: string): boolean {
    this.#interrupts = 0;
    const given = text.trim();
    if (given === '') return false;
    this.#echo(text);
    if (!given.startsWith('/') && this.#decisions.take(given)) return false;
    this.#history.add(text);
    if (given.startsWith('/')) this.#command(given);
    else this.#then(() => this.#sayUnlessEarly(given));
    return true;
  }

  /**
   * Says a line to the agent, except for one that would answer what waits and was typed before the question stood here:
   * it answers nothing, and the agent must not take it for an instruction.
   */
  async #sayUnlessEarly(text: string): Promise<void> {
    const { world, session } = this.desk;
    const [item] = await world.pending({ session: session.key });
    if (item === undefined || readTyped(text, item).kind === 'other') return this.say(text);
    this.#terminal.print([span(REFUSED.early, 'yellow')]);
  }

  #command(text: string): void {
    const [name = ''] = text.slice(1).split(/\s/, 1);
    const command = COMMANDS.find((one) => one.name === name);
    if (command === undefined) return this.complain(`there is no /${name}; /help lists what there is`);
    const run = () => command.run(this, text.slice(1 + name.length).trim());
    // A command that only reads does not wait for one that waits for an answer.
    if (command.reads === true && this.#decisions.isOwn)
      run().catch((error: unknown) => this.complain(messageOf(error)));
    else this.#then(run);
  }

  #echo(text: string): void {
    const lines = plain(text.trimEnd()).split('\n');
    this.#terminal.print(...lines.map((line, i) => [span(i === 0 ? '› ' : '  ', 'cyan'), span(line)]));
  }

  #then(work: () => Promise<unknown>): void {
    this.#typed = this.#typed
      .then(work)
      .then(() => this.#relabel())
      .catch((error: unknown) => this.complain(messageOf(error)));
  }

  #stop(reason: string): void {
    this.#then(async () => {
      const receipt = await this.desk.session.cancel({ ...PERSON, reason });
      if (receipt.status === 'rejected') this.tell(REFUSALS[receipt.code] ?? receipt.code);
    });
  }

  /** The input has ended: a run in progress may still end, but pending items cannot be decided. */
  #end(): void {
    this.#decisions.end();
    this.#then(async () => {
      while (this.isWorking && this.#decisions.waiting === 0) {
        await Promise.race([this.#watching, this.#decisions.waits()]);
      }
      if (this.#decisions.waiting > 0) this.tell('This waits for you: start me again to decide.');
      await this.leave(0);
    });
  }

  /** Shows the state of the session, and watches the run in progress. */
  async #goOn(): Promise<void> {
    const { session, paused } = this.desk;
    this.tell(...pausedLines(paused));
    const state = await session.state();
    const run = state?.run == null ? undefined : await session.run(state.run.number);
    if (run !== undefined) {
      this.tell('The last run is not over. This is what happened so far, and it goes on:', '');
      this.#watch(run);
    } else if (state !== undefined && state.runs > 0) {
      this.tell(
        `There ${state.runs === 1 ? 'is 1 message' : `are ${state.runs} messages`} before this; /log lists them.`,
        '',
      );
    }
    await this.#showUsage();
    this.#relabel();
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    await this.desk.world.close();
    await this.#watching;
    this.#decisions.clear();
  }

  #watch(run: Run<string>): void {
    this.#run = run;
    this.#watching = this.#follow(run)
      .catch((error: unknown) => {
        if (!this.#isClosing) this.complain(messageOf(error));
      })
      .finally(() => {
        this.#run = undefined;
        this.view.does('');
        this.#relabel();
      });
    this.#relabel();
  }

  /** Shows a run, and the runs queued behind it, to their end. */
  async #follow(first: Run<string>): Promise<void> {
    for (let run: Run<string> | undefined = first; run !== undefined; ) {
      this.#run = run;
      for await (const event of shownOf(run)) {
        await this.view.show(event);
        if (event.type === 'human.requested') await this.#decisions.requested(event);
        if (event.type === 'human.resolved') await this.#decisions.resolved(event);
        if (event.type.startsWith('human.')) this.#relabel();
        if (event.type === 'llm_step.completed') await this.#showUsage();
      }
      const state = await this.desk.session.state();
      if ((state?.queued ?? 0) > 0 && state?.run == null)
        this.tell('What you said for afterwards waits; /resume lets it go on.');
      run = state?.run == null ? undefined : await this.desk.session.run(state.run.number);
    }
    await this.#showUsage();
    this.#interrupts = 0;
  }

  async #showUsage(): Promise<void> {
    if (this.#terminal.hasFooter && !this.#isClosing) this.#terminal.footer(await usageLine(this.desk));
  }

  #relabel(): void {
    if (!this.#isClosing) this.#terminal.label(labelFor(this.#decisions.isAsking, this.isWorking));
  }
}

/** The events of a run to its end, however it ends: the view shows why. */
async function* shownOf(run: Run<string>): AsyncGenerator<AgentEvent | Delta> {
  try {
    yield* run.stream({ inline: INLINE_BYTES });
  } catch (error) {
    if (!isRepriseError(error, 'run_failed')) throw error;
  }
}

/** Rejections of commands, in words for the user. */
const REFUSALS: Readonly<Record<string, string>> = {
  not_running: 'nothing is running',
  nothing_to_cancel: 'nothing is running',
  nothing_to_resume: 'nothing waits',
  cancelling: 'it is stopping',
  too_many_steers: 'it was told much already that it has not read yet; wait a moment',
  queue_full: 'too much waits already',
  session_closed: 'this conversation is closed; /new begins another',
  session_absent: 'nothing was said yet',
};

function messageOf(error: unknown): string {
  return isRepriseError(error) || error instanceof TypeError ? error.message : String((error as Error)?.stack ?? error);
}
