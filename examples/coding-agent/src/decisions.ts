/** The pending items of a conversation, and what the user decides about them. */
import { type AgentEventOf, actorWords, type Decision, isRepriseError, type Pending } from 'reprise';
import type { Allowed } from './approvals/allowed.js';
import { Asking, type Question, type Reading } from './approvals/asking.js';
import { type ItemActions, itemQuestion } from './approvals/item-question.js';
import { located } from './approvals/located.js';
import { describePattern, type Pattern, patternOf } from './approvals/patterns.js';
import type { Desk } from './desk.js';
import { PERSON, ruleOf } from './person.js';
import type { RunView } from './terminal/run-view.js';
import type { Terminal } from './terminal/terminal.js';
import { type Line, span } from './terminal/text/spans.js';

/** What decisions need of the conversation. */
export interface DecisionParts {
  readonly terminal: Terminal;
  readonly view: RunView;
  desk(): Desk;
  allowed(): Allowed;
  /** Does work in the order of what was typed, and prints its errors. */
  inOrder(work: () => Promise<unknown>): void;
  tell(...lines: readonly string[]): void;
  complain(text: string): void;
}

/** Asks about pending items, the oldest first; a question of a typed command comes before them. */
export class Decisions {
  readonly #asking: Asking;
  #waiting: readonly Pending[] = [];
  /** The arguments of the first item that the user edits, and those that replace the model's. */
  #editing = false;
  #changed: { readonly args: unknown } | undefined;
  /** The question of a typed command. */
  #own: Question | undefined;
  #refuseOwn: () => void = () => undefined;
  #owned = 0;
  /** Called when an item becomes pending. */
  #onWaiting: () => void = () => undefined;

  constructor(private readonly parts: DecisionParts) {
    this.#asking = new Asking(parts.terminal);
  }

  /** How many items wait for the user. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether a question stands on the screen. */
  get isAsking(): boolean {
    return this.#own !== undefined || this.#waiting.length > 0;
  }

  /** Whether the question of a typed command stands on the screen. */
  get isOwn(): boolean {
    return this.#own !== undefined;
  }

  /** The input has ended: the question of a typed command is answered with no. */
  end(): void {
    this.#refuseOwn();
  }

  /** Resolves when an item becomes pending. */
  waits(): Promise<void> {
    return new Promise((resolve) => {
      this.#onWaiting = resolve;
    });
  }

  /** Takes a submitted line; false if it decides nothing and asks nothing. */
  take(text: string): boolean {
    return this.#asking.take(text);
  }

  /** An input was read. */
  read(): void {
    this.#asking.read();
  }

  /** Shows what is asked about whole. */
  view(): void {
    this.parts.inOrder(() => this.#asking.view());
  }

  /** The typed text was thrown away: the arguments stay as they are. */
  dropped(): void {
    if (!this.#editing) return;
    this.#editing = false;
    this.parts.inOrder(() => this.#askFirst());
  }

  /** There are no pending items any more, and no question of a command. */
  clear(): void {
    this.#waiting = [];
    this.#editing = false;
    this.#changed = undefined;
    this.#own = undefined;
    this.#asking.ask(undefined);
  }

  /** Asks a question of a typed command. Only yes and no answer it; the end of the input is a no. */
  ask(question: string): Promise<boolean> {
    this.#owned += 1;
    const id = `command ${this.#owned}`;
    return new Promise((resolve) => {
      const done = (answer: boolean) => () => {
        this.#own = undefined;
        this.#refuseOwn = () => undefined;
        this.#asking.ask(undefined);
        resolve(answer);
        this.parts.inOrder(() => this.#askFirst());
      };
      this.#refuseOwn = done(false);
      this.#own = {
        id,
        title: [span(question, 'bold')],
        body: [],
        ask: [[span('? ', 'yellow'), span(`${question}  [y]es  [n]o; then Enter`)]],
        read: (text) => yesOrNo(text, done),
      };
      this.#asking.ask(this.#own);
    });
  }

  /** A new pending item: decides it if the user has allowed such calls, and asks otherwise. */
  async requested({ id }: AgentEventOf<'human.requested'>): Promise<void> {
    const { world, session } = this.parts.desk();
    const item = (await world.pending({ session: session.key })).find((one) => one.id === id);
    if (item === undefined) return; // it was decided meanwhile
    if (await this.#isAllowed(item)) return;
    this.#waiting = [...this.#waiting, item];
    if (this.#waiting.length === 1 && this.#own === undefined) await this.#askFirst();
    this.#onWaiting();
  }

  /** An item is not pending any more. */
  async resolved({ id, also = [] }: AgentEventOf<'human.resolved'>): Promise<void> {
    const over = [id, ...also];
    const [first] = this.#waiting;
    for (const item of this.#waiting)
      if (over.includes(item.id) && item.callId !== undefined) this.parts.view.change(item.callId);
    this.#waiting = this.#waiting.filter((one) => !over.includes(one.id));
    if (first === undefined || !over.includes(first.id)) return;
    this.#editing = false;
    this.#changed = undefined;
    if (this.#own === undefined) await this.#askFirst();
  }

  async #isAllowed(item: Pending): Promise<boolean> {
    const { folder } = this.parts.desk().options;
    // A pattern was allowed for the tool as it was: a changed one is shown.
    const isCall = item.kind === 'approval' && item.drift === undefined && item.changed === undefined;
    const pattern = isCall ? this.parts.allowed().covering(item, folder) : undefined;
    if (pattern === undefined) return false;
    const comment = `A rule that the person set up allows ${describePattern(pattern)}.`;
    const { status } = await this.parts.desk().world.decide(item, { approve: true, comment }, ruleOf(pattern));
    if (status !== 'applied') return status === 'already_settled';
    this.parts.tell(`    allowed without a question: ${describePattern(pattern)} (/allowed)`);
    if (item.callId !== undefined) this.parts.view.change(item.callId);
    return true;
  }

  async #askFirst(): Promise<void> {
    const [item] = this.#waiting;
    if (this.#own !== undefined) return this.#asking.ask(this.#own);
    if (item === undefined) return this.#asking.ask(undefined);
    const { folder } = this.parts.desk().options;
    const args = this.#changed === undefined ? item.args : this.#changed.args;
    const isCall = item.kind === 'approval' && item.drift === undefined;
    const pattern = isCall ? patternOf(located({ tool: item.tool, args }, folder)) : undefined;
    const changed = this.#changed === undefined ? {} : { changed: this.#changed };
    const how = { folder, isEditing: this.#editing, pattern, ...changed };
    const question = await itemQuestion(item, how, this.#actions);
    this.parts.view.does('');
    if (this.#waiting[0] === item && this.#own === undefined) this.#asking.ask(question);
  }

  readonly #actions: ItemActions = {
    decide: (item, decision) => this.parts.inOrder(async () => void (await this.#decide(item, decision))),
    always: (item, pattern) => this.parts.inOrder(() => this.#always(item, pattern)),
    edit: (item, args) => this.parts.inOrder(() => this.#edit(item, args)),
    change: (item, args) => this.parts.inOrder(() => this.#change(item, args)),
    view: () => this.view(),
  };

  async #decide(item: Pending, decision: Decision): Promise<boolean> {
    try {
      const { status, actor, item: now } = await this.parts.desk().world.decide(item, decision, PERSON);
      if (status === 'changed' && now !== undefined) await this.#showChanged(item, now);
      if (status === 'stale') this.parts.complain('it has changed meanwhile');
      if (status === 'already_settled') {
        const by = actor === undefined ? '' : ` by ${actorWords(actor)}`;
        this.parts.complain(`that is settled already${by}`);
      }
      return status === 'applied';
    } catch (error) {
      if (!isRepriseError(error, 'invalid_value')) throw error;
      this.parts.complain(`${item.tool} does not take that: ${JSON.stringify(error.details.actual)}`);
      this.#changed = undefined;
      await this.#askFirst();
      return false;
    }
  }

  /** The tool is another one than the person was shown: both versions are shown, and the person is asked again. */
  async #showChanged(item: Pending, now: Pending): Promise<void> {
    this.parts.complain(`${now.tool ?? 'the tool'} has changed meanwhile; nothing was decided`);
    this.#waiting = this.#waiting.map((one) => (one === item ? now : one));
    await this.#askFirst();
  }

  async #always(item: Pending, pattern: Pattern): Promise<void> {
    const args = this.#changed === undefined ? {} : { args: this.#changed.args };
    if (!(await this.#decide(item, { approve: true, ...args }))) return;
    await this.parts.allowed().add(pattern);
    this.parts.tell(`From now on allowed in this folder: ${describePattern(pattern)}. /allowed lists and takes back.`);
  }

  async #edit(item: Pending, args: unknown): Promise<void> {
    if (this.#waiting[0] !== item) return;
    const text = JSON.stringify(args);
    if (!this.parts.terminal.prefill(text)) this.parts.tell(`The arguments now: ${text}`);
    this.#editing = true;
    await this.#askFirst();
  }

  async #change(item: Pending, args: unknown): Promise<void> {
    if (this.#waiting[0] !== item) return;
    this.#editing = false;
    this.#changed = { args };
    await this.#askFirst();
  }
}

function yesOrNo(text: string, done: (answer: boolean) => () => void): Reading {
  const given = text.trim().toLowerCase();
  if (given === 'y' || given === 'yes') return { kind: 'decides', deciding: 'approve', done: done(true) };
  if (given === 'n' || given === 'no') return { kind: 'decides', deciding: 'settle', done: done(false) };
  return { kind: 'wrong', why: 'Type y or n.' };
}

/** A mark before the typed text. */
export function labelFor(isAsking: boolean, isWorking: boolean): Line {
  if (isAsking) return [span('? ', 'yellow')];
  return [span(isWorking ? '» ' : '› ', 'cyan')];
}
