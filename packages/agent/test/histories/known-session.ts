/** A model of a session from its inputs and events alone: it predicts what must happen. */
import type { Value } from '@reprise/contracts';
import type { Lifecycle, SessionCommand, SessionState, TranscriptItem } from '../../src/contracts/index.js';

type Fields = Readonly<Record<string, Value>>;
type TextPart = { readonly text_ref: { readonly hex: string } };

/** An input or a steer that has not been said to the model. */
interface Unsaid {
  readonly command_id: string;
  readonly priority: number;
  readonly order: number;
  readonly text: string;
}

const TERMINAL: readonly Lifecycle[] = ['Idle', 'Completed', 'Failed', 'Cancelled'];
const QUEUE_MAX = 256;
const STEERS_MAX = 16;

/** One session, as its listener knows it. */
export class KnownSession {
  lifecycle: Lifecycle = 'Idle';
  /** Whether it exists: a definition that is refused makes none. */
  made = false;
  /** Answers to commands: null for accepted, else the code of the refusal. */
  readonly answers = new Map<string, string | null>();
  #closed = false;
  #held = false;
  #waits: string | null = null;
  #queue: Unsaid[] = [];
  #steers: Unsaid[] = [];
  #order = 0;
  /** What was delivered and has not been answered by a fact. */
  #asked: { name: string; value: Fields }[] = [];
  #run: number | undefined;
  readonly #children = new Map<string, string>();
  readonly #ended = new Set<number>();
  #cancelling: number | undefined;
  /** Texts said, in order, that the transcript has to hold next. */
  #toSay: string[] = [];
  #due: string[] = [];

  constructor(readonly key: string) {}

  /** An event was delivered. */
  delivered(name: string, value: Fields): void {
    if (name === 'aos.agent/UserInput@1' || name === 'aos.agent/HostCommand@1') this.#asked.push({ name, value });
  }

  /** What a command has to be refused with; undefined when it is to be accepted. */
  refusalOf(command: SessionCommand, stale: boolean, { window, run, config }: SessionState): string | undefined {
    if (this.#closed) return 'session_closed';
    if (stale) return 'stale_epoch';
    const idle = TERMINAL.includes(this.lifecycle);
    const stopping = this.lifecycle === 'Cancelling';
    switch (command.type) {
      case 'Steer':
        return idle
          ? 'not_running'
          : stopping
            ? 'cancelling'
            : this.#steers.length >= STEERS_MAX
              ? 'too_many_steers'
              : undefined;
      case 'FollowUp':
        return !idle && !this.#listens && this.#queue.length >= QUEUE_MAX ? 'queue_full' : undefined;
      case 'Reconfigure':
        return command.patch.model === 'gone' ? 'unknown_model' : undefined;
      case 'Pause':
        return idle
          ? 'nothing_to_pause'
          : stopping
            ? 'cancelling'
            : this.lifecycle === 'Paused'
              ? 'already_paused'
              : undefined;
      case 'Resume':
        return stopping
          ? 'cancelling'
          : this.lifecycle === 'Paused' || (idle && this.#held)
            ? undefined
            : 'nothing_to_resume';
      case 'Cancel':
        return idle && !(command.scope === 'all' && this.#queue.length > 0) ? 'nothing_to_cancel' : undefined;
      case 'Withdraw': {
        const known = [...this.#queue, ...this.#steers].some(({ command_id }) => command_id === command.command_id);
        return known ? undefined : 'unknown_command';
      }
      case 'Compact': {
        if (this.lifecycle === 'Idle') return 'nothing_to_compact';
        if ((run?.config ?? config).compaction === null) return 'compaction_off';
        return window.due === null ? undefined : 'already_compacting';
      }
      default:
        return undefined;
    }
  }

  /** It stated a fact. */
  fact(name: string, value: Fields): void {
    this.made = true;
    if (name === 'HostCommandAccepted') this.#accepted(value);
    else if (name === 'HostCommandRejected') this.#rejected(value);
    else if (name === 'InputAccepted') this.#input(value);
    else if (name === 'TurnStarted') this.#said(String(value.origin));
    else if (name === 'ChildChanged') this.#child(String(value.child), String(value.status));
  }

  /** Its lifecycle moved. */
  moved(to: Lifecycle, value: Fields, now: number): void {
    const run = Number(value.run);
    if (TERMINAL.includes(this.lifecycle)) {
      if (this.#ended.has(run)) throw new Error(`${this.key}: run ${run} began twice`);
      this.#run = run;
    } else if (run !== this.#run) throw new Error(`${this.key}: a move of run ${run} during run ${this.#run}`);
    this.lifecycle = to;
    this.#waits = to === 'WaitingInput' ? String((value.waiting as Fields).for) : to === 'Paused' ? this.#waits : null;
    this.#cancelling = to === 'Cancelling' ? now : undefined;
    if (!TERMINAL.includes(to)) return;
    this.#ended.add(run);
    this.#steers = [];
    if (to !== 'Completed') this.#held = this.#queue.length > 0;
  }

  /** Its transcript grew. */
  appended(items: readonly TranscriptItem[]): void {
    for (const item of items) this.#item(item);
    if (this.#toSay.length > 0) throw new Error(`${this.key} said that it spoke, and did not`);
  }

  /** Compares its state with what is known. @throws Error when they differ */
  compare(state: SessionState, now: number): void {
    const is = [
      state.lifecycle,
      state.status,
      state.queued,
      state.queue_suspended,
      state.steers.length,
      state.run === null,
    ];
    const idle = TERMINAL.includes(this.lifecycle);
    const held = this.#held && this.#queue.length > 0;
    const known = [
      this.lifecycle,
      this.#closed ? 'Closed' : 'Open',
      this.#queue.length,
      held,
      this.#steers.length,
      idle,
    ];
    if (is.join() !== known.join())
      throw new Error(`${this.key} is ${is.join(' ')}, where it should be ${known.join(' ')}`);
    const children = [...this.#children.values()].filter((status) => status !== 'closed').length;
    if (state.children !== children)
      throw new Error(`${this.key} has ${state.children} children, where it should be ${children}`);
    if (!idle && state.run?.number !== this.#run)
      throw new Error(`${this.key} is in run ${state.run?.number}, not ${this.#run}`);
    if (this.#due.length > 0 && state.calls.length === 0) throw new Error(`${this.key}: ${this.#due[0]} has no result`);
    const stuck = (idle || this.#listens) && this.#queue.length > 0 && !held;
    if (stuck) throw new Error(`${this.key} is ${this.lifecycle}, and an input waits`);
    if (this.#listens && this.#steers.length > 0) throw new Error(`${this.key} listens, and a steer waits`);
    const grace = (state.run?.config.cancel_grace_ms ?? 0) + 1_000;
    if (this.#cancelling !== undefined && now > this.#cancelling + grace)
      throw new Error(`${this.key} has been stopping for ${now - this.#cancelling} ms`);
  }

  get #listens(): boolean {
    return this.lifecycle === 'WaitingInput' && this.#waits === 'input';
  }

  #accepted({ command_id, type }: Fields): void {
    const asked = this.#take(String(command_id));
    const command = asked?.value.command as unknown as SessionCommand | undefined;
    if (command === undefined || command.type !== type)
      throw new Error(`${this.key} accepted a ${String(type)} that nobody gave`);
    this.answers.set(String(command_id), null);
    if (command.type === 'Steer') this.#steers.push(this.#unsaid(String(command_id), 0, command.parts));
    if (command.type === 'Close') this.#closed = true;
    if (command.type === 'Close' || (command.type === 'Cancel' && command.scope === 'all')) this.#queue = [];
    if (command.type === 'Withdraw') this.#withdraw(command.command_id);
    if (command.type === 'Resume' && TERMINAL.includes(this.lifecycle)) this.#held = false;
    if (this.#queue.length === 0) this.#held = false;
  }

  #child(child: string, status: string): void {
    if (this.#children.get(child) === 'closed') throw new Error(`${this.key}: ${child} is closed, and ${status}`);
    this.#children.set(child, status);
  }

  #withdraw(id: string): void {
    const steers = this.#steers.filter(({ command_id }) => command_id !== id);
    const steered = steers.length < this.#steers.length;
    this.#steers = steers;
    const first = steered ? undefined : this.#next(this.#queue.filter(({ command_id }) => command_id === id));
    this.#queue = this.#queue.filter((input) => input !== first);
  }

  #rejected({ command_id, code }: Fields): void {
    if (this.#take(String(command_id)) === undefined) throw new Error(`${this.key} refused what nobody gave`);
    this.answers.set(String(command_id), String(code));
  }

  /** An input was accepted; said again of one that waits, when it turns out to be of another run. */
  #input({ command_id, queued }: Fields): void {
    const id = String(command_id);
    const asked = this.#asked.find(({ value }) => value.command_id === id);
    if (asked === undefined) return this.#toldAgain(id);
    if (asked.name === 'aos.agent/UserInput@1') this.#take(id);
    const { parts, priority = 0 } = (asked.name === 'aos.agent/UserInput@1'
      ? asked.value
      : asked.value.command) as unknown as {
      parts: readonly TextPart[];
      priority?: number;
    };
    const input = this.#unsaid(id, priority, parts);
    const must = !TERMINAL.includes(this.lifecycle) && !this.#listens;
    if (queued !== must)
      throw new Error(`${this.key} is ${this.lifecycle}, and an input was${queued === true ? '' : ' not'} queued`);
    if (must) this.#queue.push(input);
    else this.#toSay.push(input.text);
  }

  #toldAgain(id: string): void {
    if (this.#next(this.#queue)?.command_id !== id) throw new Error(`${this.key} accepted ${id}, which nobody gave`);
  }

  /** Something was said to the model in the user's place. */
  #said(origin: string): void {
    if (origin === 'loop' || origin === 'repair') return;
    if (origin === 'steer') {
      const steer = this.#steers.shift();
      if (steer === undefined) throw new Error(`${this.key} said a steer that nobody gave, or twice`);
      this.#toSay.push(steer.text);
    } else if (this.#toSay.length === this.#immediate) {
      const input = this.#next(this.#queue);
      if (input === undefined) throw new Error(`${this.key} said an input that nobody gave, or twice`);
      this.#queue = this.#queue.filter((other) => other !== input);
      if (this.#queue.length === 0) this.#held = false;
      this.#toSay.push(input.text);
    }
    this.#immediate = this.#toSay.length;
  }

  #immediate = 0;

  #next(queue: readonly Unsaid[]): Unsaid | undefined {
    return [...queue].sort((a, b) => b.priority - a.priority || a.order - b.order)[0];
  }

  #item(item: TranscriptItem): void {
    if (item.role === 'tool') {
      const call = this.#due.shift();
      if (call !== item.call_id) throw new Error(`${this.key}: a result of ${item.call_id}, where ${call} is due`);
      return;
    }
    if (this.#due.length > 0) throw new Error(`${this.key}: ${item.role} stands between calls and their results`);
    if (item.role === 'assistant') this.#due = item.calls.map(({ call_id }) => call_id);
    if (item.role !== 'user' || item.origin === 'loop' || item.origin === 'repair') return;
    const said = (item.parts[0] as TextPart).text_ref.hex;
    const text = this.#toSay.shift();
    this.#immediate = this.#toSay.length;
    if (text !== undefined && text !== said) throw new Error(`${this.key} said another thing than was its turn`);
  }

  #unsaid(command_id: string, priority: number, parts: readonly unknown[]): Unsaid {
    const text = (parts[0] as TextPart).text_ref.hex;
    return { command_id, priority, order: this.#order++, text };
  }

  #take(id: string): { name: string; value: Fields } | undefined {
    const at = this.#asked.findIndex(({ value }) => value.command_id === id);
    return at < 0 ? undefined : this.#asked.splice(at, 1)[0];
  }
}
