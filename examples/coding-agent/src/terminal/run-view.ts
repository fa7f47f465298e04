/** Shows the events of a run as lines on the screen. Does not own: pending items and typed lines (`chat.ts`). */
import type { AgentEvent, AgentEventOf, Delta } from 'reprise';
import { callDiff, callLine, failureLines, resultLines } from './calls.js';
import { plain } from './paint.js';
import type { Screen } from './screen.js';

/** Shows the events of runs. */
export class RunView {
  /** The text of each step so far. */
  readonly #said = new Map<string, string>();
  /** The running calls. */
  readonly #calls = new Map<string, string>();
  #doing = { what: '', since: 0 };

  constructor(
    private readonly screen: Screen,
    private readonly folder: string,
    /** Whether the user has just typed this text, so that it is on the screen already. */
    private readonly isTyped: (commandId: string) => boolean,
  ) {}

  /** Shows one event. */
  async show(event: AgentEvent | Delta): Promise<void> {
    const { cyan, dim, green, red, yellow } = this.screen.paint;
    switch (event.type) {
      case 'delta':
        return this.#speak(event);
      case 'delta.reset':
        return this.#unsay(event.step_id);
      case 'input.accepted':
        if (!this.isTyped(event.command_id)) this.screen.print(`${cyan('›')} ${plain(event.text ?? '')}`);
        return;
      case 'llm_step.requested':
        return this.does('thinking');
      case 'llm_step.completed':
        return this.#spoken(event);
      case 'llm_step.failed':
        return this.screen.print(red(`the model failed: ${event.code}${event.again ? '; it is asked again' : ''}`));
      case 'tool.requested':
        return this.#called(event);
      case 'tool.completed':
        return this.#settled(event.call_id, resultLines(event, this.screen.paint));
      case 'tool.failed':
        return this.#settled(event.call_id, failureLines(event, this.screen.paint));
      case 'tool.late':
        return this.screen.print(dim(`  ${event.tool} ended after all: ${event.status}`));
      case 'human.resolved':
        return this.does(this.#underWay());
      case 'command.applied':
        if (event.command === 'Steer') this.screen.print(dim('(it has read what you said)'));
        return;
      case 'command.dropped':
        if (event.command === 'Steer') this.screen.print(yellow('(it never read what you said: say it again)'));
        return;
      case 'loop.detected':
        return this.screen.print(yellow(`it goes in circles: ${event.length} steps, ${event.repeats} times`));
      case 'limit.reached':
        return this.screen.print(yellow(`${event.limit}: ${event.used} of ${event.of} used; /more lets it go on`));
      case 'context.pressure':
        return this.screen.print(dim(`the model's window is ${event.percent} % full`));
      case 'context.compacted':
        return this.screen.print(dim('(what is old is a summary now; /log and the world have all of it)'));
      case 'compaction.failed':
        return this.screen.print(yellow(`no summary: ${event.code}`));
      case 'lifecycle':
        if (event.stop?.kind === 'Completed') this.screen.print(green('✓ done'), '');
        else if (event.stop?.kind === 'Cancelled') this.screen.print(yellow('■ stopped'), '');
        else if (event.stop !== undefined)
          this.screen.print(red(`✗ ${event.stop.kind === 'Failed' ? event.stop.code : event.stop.limit}`), '');
        return;
      default:
        return;
    }
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
    this.screen.status(what === '' ? '' : `· ${what}${time}   Ctrl-C stops it; what you type, it is told`);
  }

  #speak({ channel, step_id, text }: Delta & { readonly type: 'delta' }): void {
    if (channel === 'tool_args') return this.does('writing a call');
    if (channel === 'reasoning') return this.does('thinking');
    const said = this.#said.get(step_id);
    if (said === undefined) this.screen.print('');
    this.#said.set(step_id, (said ?? '') + text);
    this.screen.say(plain(text));
  }

  #unsay(step: string): void {
    this.#said.delete(step);
    this.screen.endSaying();
    this.screen.print(this.screen.paint.dim('(the answer broke off, and is asked for again)'));
  }

  /** Shows the part of the final answer that was not streamed. */
  #spoken({ step_id, text = '', interrupted }: AgentEventOf<'llm_step.completed'>): void {
    const said = this.#said.get(step_id ?? '') ?? '';
    this.#said.delete(step_id ?? '');
    if (said === '' && text !== '') this.screen.print('');
    if (!text.startsWith(said)) this.screen.endSaying();
    this.screen.say(plain(text.startsWith(said) ? text.slice(said.length) : text));
    this.screen.endSaying();
    if (interrupted) this.screen.print(this.screen.paint.dim('(stopped while it spoke)'));
    this.does('');
  }

  async #called({ tool, args, call_id }: AgentEventOf<'tool.requested'>): Promise<void> {
    const { paint } = this.screen;
    const line = callLine(tool, args);
    const diff = await callDiff(tool, args, this.folder, paint);
    this.#calls.set(call_id, line);
    this.screen.print(`  ${paint.cyan('●')} ${line}`, ...diff.map((text) => `    ${text}`));
    this.does(line);
  }

  #settled(call: string, lines: readonly string[]): void {
    const line = this.#calls.get(call) ?? call;
    // If there are several, each one has to say which one it is.
    const name = this.#calls.size > 1 ? [this.screen.paint.dim(`  ○ ${line}`)] : [];
    this.#calls.delete(call);
    this.screen.print(...name, ...lines.map((text) => `    ${text}`));
    this.does(this.#underWay());
  }

  #underWay(): string {
    return [...this.#calls.values()][0] ?? '';
  }
}
