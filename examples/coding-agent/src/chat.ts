/**
 * A conversation at the terminal: typed lines become commands of a session, and its events become printed lines.
 *
 * There is no agent loop here, and nothing to resume: the run is in the journal, and this program only watches it. So
 * it can be killed at any moment; the next process shows the current state of the run and continues watching.
 */
import { randomUUID } from 'node:crypto';
import { type AgentEventOf, type CommandReceipt, type Decision, isRepriseError, type Pending, type Run } from 'reprise';
import { choices, readEdited, readTyped } from './approvals.js';
import { COMMANDS } from './commands.js';
import { type Desk, type DeskOptions, openDesk } from './desk.js';
import { callLine } from './terminal/calls.js';
import { plain } from './terminal/paint.js';
import { RunView } from './terminal/run-view.js';
import { Screen } from './terminal/screen.js';

/** Texts up to this length are shown whole. */
const INLINE_BYTES = 1024 * 1024;
const TICK_MS = 1_000;

/** A user at a terminal, and the session that the user talks to. */
export class Chat {
  readonly #screen: Screen;
  readonly #view: RunView;
  readonly #ticks: NodeJS.Timeout;
  /** Typed lines are handled in the order in which they were typed. */
  #typed: Promise<void> = Promise.resolve();
  readonly #sent = new Set<string>();
  /** The watched run, and the promise of its end. */
  #run: Run<string> | undefined;
  #watching: Promise<void> = Promise.resolve();
  /** The pending items, oldest first, and whether the arguments of the first are being edited. */
  #waiting: readonly Pending[] = [];
  #isEditing = false;
  /** Receives the next line, if it answers a question about a command. */
  #answer: ((text: string) => void) | undefined;
  /** Called when an item becomes pending. */
  #onWaiting: () => void = () => undefined;
  #interrupts = 0;
  /** The world is being closed, so a run that stops with it has not failed. */
  #isClosing = false;
  #leave: (code: number) => void = () => undefined;
  /** The exit code, once the user has quit. */
  readonly left: Promise<number>;

  constructor(
    /** The open world and session. */
    public desk: Desk,
    input: NodeJS.ReadStream,
    output: NodeJS.WriteStream,
  ) {
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#screen = new Screen(input, output, {
      line: (text) => this.#take(text),
      interrupt: () => this.interrupt(),
      end: () => this.#then(() => this.#ended()),
    });
    this.#view = new RunView(this.#screen, desk.options.folder, (id) => this.#sent.has(id));
    this.#ticks = setInterval(() => this.#view.tick(), TICK_MS);
  }

  /** Whether a run is in progress. */
  get isWorking(): boolean {
    return this.#run !== undefined;
  }

  /** Prints the current state, and continues what was left. */
  async begin(): Promise<void> {
    const { bold, dim } = this.#screen.paint;
    this.#screen.print(
      `${bold('coding agent')}  ${this.desk.options.folder}`,
      dim(`model ${this.desk.model} · conversation ${this.desk.session.key} · world ${this.desk.file}`),
      dim('It asks before it writes or runs anything. /help says what you can type.'),
      '',
    );
    await this.#goOn();
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
    this.#view.does('');
    await this.#close();
    if (isWorking) this.tell('The run is not over: start me again here, and it goes on.');
    this.#screen.close();
    this.#leave(code);
  }

  /** Ctrl-C: stops the run; a second time, quits. */
  interrupt(): void {
    if (!this.isWorking && this.#screen.clearTyped()) return;
    this.#interrupts += 1;
    if (this.#interrupts > 1) void this.leave(130);
    else if (!this.isWorking) this.tell('Ctrl-C once more leaves; so does /quit.');
    else {
      this.tell('stopping …  Ctrl-C once more leaves at once');
      this.#then(async () => {
        const receipt = await this.desk.session.cancel({ reason: 'Ctrl-C' });
        if (receipt.status === 'rejected') this.tell(REFUSALS[receipt.code] ?? receipt.code);
      });
    }
  }

  /** Sends a text to the agent: to the run in progress, or as a new message. */
  async say(text: string): Promise<void> {
    if (this.isWorking && (await this.steer(text))) return;
    await this.#watching; // it has just ended
    const id = randomUUID();
    this.#sent.add(id);
    this.#watch(await this.desk.session.send(text, { id }));
  }

  /** Sends a text to the run in progress; false if no run is in progress. */
  async steer(text: string): Promise<boolean> {
    const receipt = await this.desk.session.steer(text);
    if (receipt.status === 'rejected' && ['not_running', 'session_absent'].includes(receipt.code)) return false;
    this.told(receipt, 'it reads that before its next step');
    return true;
  }

  /** Prints a line. */
  tell(...lines: readonly string[]): void {
    this.#screen.print(...lines.map((line) => this.#screen.paint.dim(line)));
  }

  /** Prints the result of a command. */
  told(receipt: CommandReceipt, accepted: string): void {
    if (receipt.status === 'accepted') this.tell(accepted);
    else this.complain(REFUSALS[receipt.code] ?? `not now: ${receipt.code}`);
  }

  /** Prints an error. */
  complain(text: string): void {
    this.#screen.print(this.#screen.paint.red(text));
  }

  /** Asks the user about a typed command; the next line is the answer. */
  ask(question: string): Promise<string> {
    this.#screen.print(`${this.#screen.paint.yellow('?')} ${question}`);
    return new Promise((resolve) => {
      this.#answer = (text) => {
        this.#answer = undefined;
        this.#relabel();
        resolve(text.trim());
      };
      this.#relabel();
    });
  }

  #take(text: string): void {
    this.#interrupts = 0;
    if (this.#answer === undefined) this.#then(() => this.#line(text.trim()));
    else this.#answer(text);
  }

  #then(work: () => Promise<void>): void {
    this.#typed = this.#typed.then(work).catch((error: unknown) => this.complain(messageOf(error)));
  }

  async #line(text: string): Promise<void> {
    if (text.startsWith('/')) return this.#command(text);
    const [item] = this.#waiting;
    if (item !== undefined) {
      const isDecided = await this.#decided(text, item);
      if (isDecided) return;
    }
    if (text !== '') await this.say(text);
  }

  async #command(text: string): Promise<void> {
    const [name = ''] = text.slice(1).split(/\s/, 1);
    const command = COMMANDS.find((one) => one.name === name);
    if (command === undefined) this.complain(`there is no /${name}; /help lists what there is`);
    else await command.run(this, text.slice(1 + name.length).trim());
  }

  /** Treats a typed line as a decision about the pending item; false if it is not a decision. */
  async #decided(text: string, item: Pending): Promise<boolean> {
    const typed = this.#isEditing ? readEdited(text) : readTyped(text, item);
    this.#isEditing = false;
    if (typed.kind === 'other' && text !== '') return false;
    if (typed.kind === 'decision') await this.#decide(item, typed.decision);
    else if (typed.kind === 'edit') this.#edit(item);
    else {
      if (typed.kind === 'wrong') this.complain(typed.why);
      this.#askFirst();
    }
    return true;
  }

  #edit({ args }: Pending): void {
    this.#isEditing = true;
    const text = JSON.stringify(args);
    this.tell(this.#screen.canPrefill ? 'Change the arguments, and press Enter.' : `The arguments, changed: ${text}`);
    this.#screen.prefill(text);
  }

  async #decide(item: Pending, decision: Decision): Promise<void> {
    try {
      const { status } = await this.desk.world.decide(item, decision, { as: 'human:you' });
      if (status === 'stale') this.complain('it has changed meanwhile');
      if (status === 'already_settled') this.complain('that is settled already');
      if (status === 'applied' && 'remember' in decision)
        this.tell(`Every ${item.tool} of this conversation is allowed now; /forget ${item.tool} takes that back.`);
    } catch (error) {
      if (!isRepriseError(error, 'invalid_value')) throw error;
      this.complain(`${item.tool} does not take that: ${JSON.stringify(error.details.actual)}`);
      this.#askFirst();
    }
  }

  /** The input has ended: a run in progress may still end, but pending items cannot be decided. */
  async #ended(): Promise<void> {
    this.#answer?.('');
    while (this.isWorking && this.#waiting.length === 0) {
      const waits = new Promise<void>((resolve) => {
        this.#onWaiting = resolve;
      });
      await Promise.race([this.#watching, waits]);
    }
    if (this.#waiting.length > 0) this.tell('This waits for you: start me again to decide.');
    await this.leave(0);
  }

  /** Shows the state of the session, and watches the run in progress. */
  async #goOn(): Promise<void> {
    const { session } = this.desk;
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
    this.#relabel();
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    await this.desk.world.close();
    await this.#watching;
    this.#waiting = [];
  }

  #watch(run: Run<string>): void {
    this.#run = run;
    this.#watching = this.#follow(run)
      .catch((error: unknown) => {
        if (!this.#isClosing) this.complain(messageOf(error));
      })
      .finally(() => {
        this.#run = undefined;
        this.#view.does('');
        this.#relabel();
      });
    this.#relabel();
  }

  /** Shows a run, and the runs queued behind it, to their end. */
  async #follow(first: Run<string>): Promise<void> {
    for (let run: Run<string> | undefined = first; run !== undefined; ) {
      this.#run = run;
      for await (const event of run.stream({ inline: INLINE_BYTES })) {
        await this.#view.show(event);
        if (event.type === 'human.requested') await this.#requested(event);
        if (event.type === 'human.resolved') this.#isSettled(event);
      }
      const state = await this.desk.session.state();
      if ((state?.queued ?? 0) > 0 && state?.run == null)
        this.tell('What you said for afterwards waits; /resume lets it go on.');
      run = state?.run == null ? undefined : await this.desk.session.run(state.run.number);
    }
    this.#interrupts = 0;
  }

  async #requested({ id }: AgentEventOf<'human.requested'>): Promise<void> {
    const items = await this.desk.world.pending({ session: this.desk.session.key });
    const item = items.find((one) => one.id === id);
    if (item === undefined) return; // it was decided meanwhile
    this.#waiting = [...this.#waiting, item];
    if (this.#waiting.length === 1) this.#askFirst('allow it?');
    this.#onWaiting();
  }

  #isSettled({ id, also = [] }: AgentEventOf<'human.resolved'>): void {
    const over = [id, ...also];
    const [first] = this.#waiting;
    this.#waiting = this.#waiting.filter((one) => !over.includes(one.id));
    if (first === undefined || !over.includes(first.id)) return;
    this.#isEditing = false;
    this.#relabel();
    this.#askFirst();
  }

  /** Asks about the oldest pending item; with these words, if the item was printed just before. */
  #askFirst(what?: string): void {
    const [item] = this.#waiting;
    if (item === undefined) return;
    const { yellow, bold, dim } = this.#screen.paint;
    this.#view.does('');
    if (item.kind === 'question') {
      const options = (item.question?.options ?? []).map(({ label }, i) => `      ${i + 1}  ${plain(label)}`);
      this.#screen.print(`  ${yellow('?')} ${bold(plain(item.question?.question ?? ''))}`, ...options);
    } else {
      const reason = item.reason === undefined ? '' : ` (${plain(item.reason)})`;
      this.#screen.print(
        `  ${yellow('?')} ${bold(what ?? callLine(item.tool ?? '', item.args))}${reason}   ${dim(choices(item))}`,
      );
    }
    this.#relabel();
  }

  #relabel(): void {
    const { yellow, cyan } = this.#screen.paint;
    const isAsked = this.#answer !== undefined || this.#waiting.length > 0;
    this.#screen.label(isAsked ? yellow('? ') : cyan(this.isWorking ? '» ' : '› '));
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
