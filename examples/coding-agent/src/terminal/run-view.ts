/** Shows the events of a run. Does not own: pending items and typed lines (`chat.ts`). */
import type { AgentEvent, AgentEventOf, Delta, Ref } from 'reprise';
import { failureWords } from 'reprise/history';
import { callLine, dimmed, errorWords, failureLines, resultLines, type Shown, wholeCall } from './calls.js';
import type { Difference } from './diff.js';
import type { Terminal } from './terminal.js';
import { outputLines, plain } from './text/plain.js';
import { type Line, span } from './text/spans.js';
import { fitting, widthOf } from './text/width.js';

/** How many lines of a change are shown before it is folded. */
const CHANGE_LINES = 40;
/** How many lines of a running program are shown, and how much of its output is kept for that. */
const TAIL_LINES = 5;
const TAIL_UNITS = 65_536;
/** The last lines of a program are shown at most this often, in milliseconds: a loud program prints faster. */
const TAIL_MS = 50;
/** The fewest columns for what is done. */
const DOING_COLUMNS_MIN = 12;
/** How much of a command line its reports carry. */
const PROGRAM_UNITS_MAX = 1_000;
/** How many calls can be shown again. */
const CALLS_MAX = 500;

/** A call that was shown. */
export interface ShownCall {
  readonly number: number;
  readonly title: string;
  readonly tool: string;
  readonly args: unknown;
  /** What its program has printed so far. */
  output: string;
  /** The link to the whole of its result. */
  whole: Ref | undefined;
  /** The change that it makes, as the file was when it was called. */
  readonly change: Difference | undefined;
  isChangeShown: boolean;
}

/** Shows the events of runs. */
export class RunView {
  /** The text of each step so far. */
  readonly #said = new Map<string, string>();
  /** The running calls, by id. */
  readonly #running = new Map<string, ShownCall>();
  /** Calls by their numbers. */
  readonly #shown = new Map<number, ShownCall>();
  #last = 0;
  #doing = { what: '', since: 0 };
  #tailing: NodeJS.Timeout | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly folder: string,
    /** Whether the user has just typed this text, so that it is on the screen already. */
    private readonly isTyped: (commandId: string) => boolean,
  ) {}

  /** The call with a number, or the last one. */
  call(number = this.#last): ShownCall | undefined {
    return this.#shown.get(number);
  }

  /** Shows one event. */
  async show(event: AgentEvent | Delta): Promise<void> {
    switch (event.type) {
      case 'delta':
        return this.#speak(event);
      case 'delta.reset':
        return this.#unsay(event.step_id);
      case 'input.accepted':
        if (!this.isTyped(event.command_id)) this.#typed(event.text ?? '');
        return;
      case 'llm_step.requested':
        return this.does('thinking');
      case 'llm_step.completed':
        return this.#spoken(event);
      case 'llm_step.failed':
        return this.#failed(event);
      case 'tool.requested':
        return this.#called(event);
      case 'tool.completed':
        return this.#completed(event);
      case 'tool.failed':
        return this.#settled(event, failureLines(event));
      case 'tool.late':
        return this.#note('dim', `  ${event.tool} ended after all: ${event.status}`);
      case 'human.resolved':
        return this.does(this.#underWay());
      case 'lifecycle':
        return this.#lifecycle(event);
      default:
        return this.#notice(event);
    }
  }

  /** Shows what a running program prints. `program`: how it was started. */
  heard(program: string, text: string): void {
    const calls = [...this.#running.values()].filter(({ tool }) => tool.startsWith('run_'));
    const call = calls.find(({ tool, args }) => programOf(tool, args) === program) ?? calls[0];
    if (call === undefined) return;
    call.output = (call.output + text).slice(-TAIL_UNITS);
    this.#tailing ??= setTimeout(() => this.#tail(call), TAIL_MS);
  }

  /** Shows the change that a call makes, once; called when it may be made. */
  change(callId: string): void {
    const call = this.#running.get(callId);
    if (call?.change === undefined || call.isChangeShown) return;
    const { lines, added, removed } = call.change;
    call.isChangeShown = true;
    const left = lines.length - CHANGE_LINES;
    this.terminal.print(
      [span(`    +${added} -${removed}`, 'dim')],
      ...lines.slice(0, CHANGE_LINES).map((line) => indented(line)),
      ...(left > 0 ? [[span(`    … ${left} more lines: /show ${call.number}`, 'dim')]] : []),
    );
  }

  /** Describes the current activity; an empty text when idle. */
  does(what: string): void {
    this.#doing = { what, since: Date.now() };
    this.tick();
  }

  /** Updates the elapsed time. */
  tick(): void {
    const { what, since } = this.#doing;
    const seconds = Math.floor((Date.now() - since) / 1000);
    const time = seconds === 0 ? '' : `  ${seconds} s`;
    if (what === '') return this.terminal.status('');
    const rest = `${time} · Ctrl-C stops it; what you type, it is told`;
    const room = Math.max(DOING_COLUMNS_MIN, this.terminal.columns - widthOf(rest) - 3);
    this.terminal.status(`· ${fitting(what, room)}${rest}`);
  }

  #note(style: 'red' | 'yellow' | 'green' | 'dim', ...lines: readonly string[]): void {
    this.terminal.print(...lines.map((line) => [span(line, style)]));
  }

  #failed(event: AgentEventOf<'llm_step.failed'>): void {
    this.does('');
    const words = `the model failed: ${plain(failureWords(event.code, event.error))}`;
    this.#note('red', ...words.split('\n'), ...(event.again ? ['it is asked again'] : []));
  }

  #typed(text: string): void {
    const lines = plain(text).split('\n');
    this.terminal.print(...lines.map((line, i) => [span(i === 0 ? '› ' : '  ', 'cyan'), span(line)]));
  }

  #speak({ channel, step_id, text }: Delta & { readonly type: 'delta' }): void {
    if (channel === 'tool_args') return this.does('writing a call');
    if (channel === 'reasoning') return this.does('thinking');
    const said = this.#said.get(step_id);
    if (said === undefined) this.terminal.print('');
    this.#said.set(step_id, (said ?? '') + text);
    this.terminal.say(text);
  }

  #unsay(step: string): void {
    this.#said.delete(step);
    this.terminal.unsay();
    this.#note('dim', '(the answer broke off, and is asked for again)');
  }

  /** Shows the part of the final answer that was not streamed. */
  #spoken({ step_id, text = '', interrupted }: AgentEventOf<'llm_step.completed'>): void {
    const said = this.#said.get(step_id ?? '') ?? '';
    this.#said.delete(step_id ?? '');
    if (said === '' && text !== '') this.terminal.print('');
    if (!text.startsWith(said)) this.terminal.endSaying();
    const rest = text.startsWith(said) ? text.slice(said.length) : text;
    if (rest !== '') this.terminal.say(rest);
    this.terminal.endSaying();
    if (interrupted) this.#note('dim', '(stopped while it spoke)');
    this.does('');
  }

  async #called({ tool, args, call_id }: AgentEventOf<'tool.requested'>): Promise<void> {
    this.#last += 1;
    const title = callLine(tool, args);
    const { difference: change } = await wholeCall(tool, args, this.folder);
    const fresh = { output: '', whole: undefined, change, isChangeShown: false };
    const call: ShownCall = { number: this.#last, title, tool, args, ...fresh };
    this.#running.set(call_id, call);
    this.#shown.set(this.#last, call);
    this.#shown.delete(this.#last - CALLS_MAX);
    this.terminal.print([span('  ● ', 'cyan'), span(title), span(`  #${this.#last}`, 'dim')]);
    this.does(title);
  }

  #completed(event: AgentEventOf<'tool.completed'>): void {
    const call = this.#running.get(event.call_id);
    if (call !== undefined) call.whole = event.operator_ref ?? event.ref;
    this.change(event.call_id);
    this.#settled(event, resultLines(event, call?.number ?? 0));
  }

  #settled({ call_id }: { readonly call_id: string }, { lines }: Shown): void {
    const call = this.#running.get(call_id);
    // If there are several, each one has to say which one it is.
    const isOne = this.#running.size <= 1;
    this.#running.delete(call_id);
    this.terminal.live([]);
    const name = isOne ? [] : [[span(`  ○ ${call?.title ?? call_id}  #${call?.number ?? ''}`, 'dim')]];
    this.terminal.print(...name, ...lines.map((line) => indented(line)));
    this.does(this.#underWay());
  }

  #lifecycle({ stop }: AgentEventOf<'lifecycle'>): void {
    if (stop === undefined) return;
    if (stop.kind === 'Completed') this.#note('green', '✓ done', '');
    else if (stop.kind === 'Cancelled') this.#note('yellow', '■ stopped', '');
    else this.#note('red', `✗ ${stop.kind === 'Failed' ? stop.code : stop.limit}`, '');
  }

  #notice(event: AgentEvent): void {
    switch (event.type) {
      case 'command.applied':
        if (event.command === 'Steer') this.#note('dim', '(it has read what you said)');
        return;
      case 'command.dropped':
        if (event.command === 'Steer') this.#note('yellow', '(it never read what you said: say it again)');
        return;
      case 'loop.detected':
        return this.#note('yellow', `it goes in circles: ${event.length} steps, ${event.repeats} times`);
      case 'limit.reached':
        return this.#note('yellow', `${event.limit}: ${event.used} of ${event.of} used; /more lets it go on`);
      case 'context.pressure':
        return this.#note('dim', `the model's window is ${event.percent} % full`);
      case 'context.compacted':
        return this.#note('dim', '(what is old is a summary now; /log and the world have all of it)');
      case 'compaction.failed':
        return this.#note('yellow', `no summary: ${event.code}${errorWords(event)}`);
      default:
        return;
    }
  }

  /** The last lines that a program has printed. */
  #tail(call: ShownCall): void {
    this.#tailing = undefined;
    if (![...this.#running.values()].includes(call)) return;
    const lines = outputLines(call.output.slice(-8_192)).filter((line) => line.length > 0);
    this.terminal.live(lines.slice(-TAIL_LINES).map((line) => [span('    │ ', 'dim'), ...dimmed(line)]));
  }

  #underWay(): string {
    return [...this.#running.values()][0]?.title ?? '';
  }
}

/** How the tools name the program of a call in what they report. */
function programOf(tool: string, args: unknown): string | undefined {
  const { argv, command } = (args ?? {}) as { readonly argv?: unknown; readonly command?: unknown };
  if (tool === 'run_shell') return String(command).slice(0, PROGRAM_UNITS_MAX);
  return Array.isArray(argv) ? argv.join(' ').slice(0, PROGRAM_UNITS_MAX) : undefined;
}

function indented(line: Line): Line {
  return [span('    '), ...line];
}
