/**
 * Knows of each thing that a world's sessions took whether it has ended. It reads what anybody may read, requests, agent
 * events and transcripts in the order of the journal, and shares no code with the reducer.
 *
 * Invariants
 * E1  A request is answered once: accepted or rejected. A command that was accepted is applied or dropped once, under its
 *     own id and name. An input is said once or dropped once; what is said belongs to a run that is under way.
 * E2  A run ends once, or never begins because its input became a turn of another; nothing of it begins behind its end. A steer is applied only at a step that is asked for.
 * E3  A call of a model has one result among the events, before its run ends, and one in the transcript, before anything
 *     else is said.
 * E4  A question is settled once.
 * E5  When the root session was closed and its grace is over, nothing is open.
 */
import type { AgentEvent, AgentEventOf, TranscriptItem } from '../../src/index.js';
import { Once } from './once.js';

const KINDS = ['request', 'command', 'input', 'run', 'call', 'result', 'question'] as const;

/** Reads what happened, and finds what ended never or twice. */
export class EndsOracle {
  readonly #things = new Once();
  /** The input that a run which has not started is to begin with, by run. */
  readonly #first = new Map<string, string>();
  readonly #runs = new Set<string>();
  readonly #started = new Set<string>();
  /** Steps at which a steer was applied in the frame at hand, and which are to be asked for in it. */
  readonly #steered = new Set<string>();
  #frame = '';

  /** @param options `requests`: whether it is told what is asked of sessions; true when absent */
  constructor(private readonly options: { readonly requests?: boolean } = {}) {}

  /** How many of each kind were accepted, and how they ended. */
  get counts(): ReadonlyMap<string, number> {
    return this.#things.counts;
  }

  /** Something was asked of a session: `Input`, or the type of a command. */
  asked(session: string, what: string, command_id: string): void {
    this.#things.begin('request', nameOf(session, what, command_id));
  }

  /** What was asked of a session did not come there: who asked is told so. */
  notDelivered(session: string, what: string, command_id: string): void {
    this.#answered(session, what, command_id, 'not delivered');
  }

  /** The next event. @throws Error when something ended twice, or what is over goes on */
  read(event: AgentEvent): void {
    const [frame = ''] = event.event_seq.split('.');
    if (frame !== this.#frame) this.#endFrame();
    this.#frame = frame;
    this.#event(event);
  }

  /** Items that a transcript grew by. @throws Error when a result is of no call */
  said(session: string, items: readonly TranscriptItem[]): void {
    for (const item of items) {
      if (item.role === 'assistant' || item.role === 'user') this.#things.allEnded('result', `${session} `);
      if (item.role === 'assistant')
        for (const { call_id } of item.calls) this.#things.begin('result', `${session} ${call_id}`);
      if (item.role === 'tool') this.#things.end('result', `${session} ${item.call_id}`, kindOf(item));
    }
  }

  /** Nothing more will happen. @throws Error when something has no end */
  over(): void {
    this.#endFrame();
    for (const kind of KINDS) this.#things.allEnded(kind);
  }

  #event(event: AgentEvent): void {
    switch (event.type) {
      case 'input.accepted':
        return this.#input(event);
      case 'input.dropped':
        return this.#things.end('input', inputOf(event, event.command_id), `dropped ${event.why}`);
      case 'turn.started':
        return this.#turn(event);
      case 'lifecycle':
        return this.#lifecycle(event);
      case 'command.accepted':
      case 'command.rejected':
      case 'command.applied':
      case 'command.dropped':
        return this.#command(event);
      case 'llm_step.requested':
      case 'llm_step.completed':
        return this.#step(event);
      case 'tool.completed':
        return this.#things.end('call', callOf(event), 'completed');
      case 'tool.failed':
        return this.#things.end('call', callOf(event), event.non_execution?.kind ?? 'failed');
      case 'human.requested':
        return this.#things.begin('question', event.id);
      case 'human.resolved':
        for (const id of [event.id, ...(event.also ?? [])]) this.#things.end('question', id, event.how);
        return;
      default:
    }
  }

  #input({ session_id, run_id, command_id, cause, moved_from }: AgentEventOf<'input.accepted'>): void {
    const input = `${session_id} ${command_id}`;
    const run = run_id ?? '';
    if (moved_from !== undefined) {
      if (!this.#things.isOpen('input', input)) throw new Error(`input ${input} moved, and was not open`);
      this.#moved(input, `${session_id}/r${moved_from}`);
    } else {
      this.#things.begin('input', input);
      if (cause.kind !== 'follow_up') this.#answered(session_id, 'Input', command_id, 'taken');
    }
    if (!this.#runs.has(run)) {
      this.#runs.add(run);
      this.#things.begin('run', run);
      this.#first.set(run, input);
    } else if (!this.#things.isOpen('run', run)) throw new Error(`input ${input} is of run ${run}, which is over`);
  }

  /** An input leaves a run that has ended, or one that was to begin with it and never will. */
  #moved(input: string, run: string): void {
    if (!this.#things.isOpen('run', run)) return;
    if (this.#started.has(run) || this.#first.get(run) !== input)
      throw new Error(`input ${input} moved from run ${run}, which goes on`);
    this.#things.end('run', run, 'moved');
  }

  #turn({ session_id, run_id, origin, command_id }: AgentEventOf<'turn.started'>): void {
    this.#goesOn(run_id, `a turn of ${origin}`);
    if (command_id === undefined || origin === 'steer') return;
    this.#things.end('input', `${session_id} ${command_id}`, 'said');
  }

  #lifecycle({ session_id, run_id, from, to, stop }: AgentEventOf<'lifecycle'>): void {
    const run = run_id ?? '';
    this.#started.add(run);
    if (stop === undefined) return this.#goesOn(run, `a move to ${to}`);
    this.#things.allEnded('call', `${run}/`);
    if (from === 'Queued')
      this.#things.end('input', this.#first.get(run) ?? session_id, `never said: ${droppedBy(stop)}`);
    this.#things.end('run', run, from === 'Queued' ? `dropped ${droppedBy(stop)}` : stop.kind);
  }

  #command(event: AgentEventOf<'command.accepted' | 'command.rejected' | 'command.applied' | 'command.dropped'>): void {
    const { session_id, command, command_id } = event;
    const name = nameOf(session_id, command, command_id);
    if (event.type === 'command.rejected')
      return this.#answered(session_id, command, command_id, `rejected ${event.code}`);
    if (event.type === 'command.accepted') {
      this.#answered(session_id, command, command_id, 'taken');
      return this.#things.begin('command', name);
    }
    const how = event.type === 'command.applied' ? 'applied' : `dropped ${event.why}`;
    this.#things.end('command', name, `${command} ${how}`);
    if (command !== 'Steer' || event.type !== 'command.applied') return;
    if (event.step_id === null) throw new Error(`steer ${command_id} was applied at no step`);
    this.#steered.add(event.step_id);
  }

  #step(event: AgentEventOf<'llm_step.requested' | 'llm_step.completed'>): void {
    this.#goesOn(event.run_id, 'a step');
    if (event.type === 'llm_step.requested') this.#steered.delete(event.step_id ?? '');
    else for (const call_id of event.calls) this.#things.begin('call', callOf({ step_id: event.step_id, call_id }));
  }

  #answered(session: string, what: string, command_id: string, how: string): void {
    if (this.options.requests === false) return;
    this.#things.end('request', nameOf(session, what, command_id), how);
  }

  #goesOn(run: string | null, what: string): void {
    if (run === null || !this.#things.isOpen('run', run)) throw new Error(`${what} of run ${run}, which is not open`);
  }

  #endFrame(): void {
    for (const step of this.#steered) throw new Error(`a steer was applied at step ${step}, which nobody asked for`);
  }
}

function nameOf(session: string, what: string, command_id: string): string {
  return `${session} ${what} ${command_id}`;
}

function inputOf({ session_id }: AgentEvent, command_id: string): string {
  return `${session_id} ${command_id}`;
}

function callOf({ step_id, call_id }: { readonly step_id: string | null; readonly call_id: string }): string {
  return `${step_id} ${call_id}`;
}

function droppedBy(stop: NonNullable<AgentEventOf<'lifecycle'>['stop']>): string {
  return stop.kind === 'Cancelled' ? (stop.dropped ?? 'without a reason') : stop.kind;
}

function kindOf({ non_execution, is_error }: Extract<TranscriptItem, { role: 'tool' }>): string {
  return non_execution?.kind ?? (is_error ? 'error' : 'output');
}
