/** The reference pages of sessions, made from the contract: a type or a code that nobody explains breaks the build. */
import {
  AGENT_EVENT_TYPES,
  AGENT_EVENTS,
  type AgentEventType,
  correlation,
  type HostCommand,
  hostCommand,
  OPERATOR_ONLY,
  REJECTIONS,
  type Rejection,
} from '@reprise/agent';
import type * as z from 'zod';
import { table } from './docs-table.js';

const EVENTS: Readonly<Record<AgentEventType, string>> = {
  'input.accepted': 'an input was taken; it starts the run, or waits for those before it',
  'input.dropped': 'an input that was to be a turn of this run will not be said; the run goes on',
  'turn.started': 'something is said to the model in the place of a user',
  lifecycle: 'the run changed its state: `news` says how, `stop` why it ended; from `Queued` it never started',
  'llm_step.requested': 'the model is asked',
  'llm_step.completed': 'the model answered',
  'llm_step.failed': 'the model call failed for good; `again`: it is made once more',
  'tool.requested': 'the model calls a tool',
  'tool.completed': 'the call has its result',
  'tool.failed': 'the call failed, or did not happen: `non_execution` says which',
  'tool.bounded': 'the output was cut for the model; the whole is behind `operator_ref`',
  'tool.waiting': 'the call waits for somebody, or for children',
  'tool.late': 'a call that was reported without an output was answered after all',
  'human.requested': 'somebody has to decide or answer: `id` is what `world.decide` takes',
  'human.settled':
    'it was decided, answered, or is over; `also`: what else the same call still waited for, over with it',
  'child.spawned': 'a child session was made',
  'child.changed': 'a child works, waits, or is closed',
  'child.settled': 'a child came to something',
  'host.accepted': 'a command was taken',
  'host.rejected': 'a command was refused, and changed nothing',
  'host.applied': 'what a command asked for has come about; each accepted command is applied once, or dropped once',
  'host.dropped': 'what a command asked for will not come about: `why`',
  'config.changed': 'the configuration changed, from run `from_run` on or at once',
  'context.pressure': 'so much of the model’s window is in use',
  'budget.pressure': 'so much of a limit is used up',
  'usage.differs':
    'a model call used more than was reserved for it, or nobody told what it used and its reserve counts, or it was told after the call had been given up',
  'loop.detected': 'the same calls came round again; `action` is what is done',
  'compaction.started': 'a model is asked for a summary of the older part of the conversation',
  'context.compacted': 'that part is shown as this summary from now on; the transcript keeps it',
  'compaction.failed': 'there is no summary: `nothing_to_compact`, or the code of a failure',
  'limit.reached': 'a limit forbids what would come next',
  'toolset.changed':
    'a toolset offers others than the session held: how many are new, gone, described otherwise, held back',
  'toolset.decided': 'somebody decided about what was held back of a toolset',
  'toolset.unreachable': 'a toolset cannot be reached: calls of its tools fail until it can',
  'toolset.reachable': 'a toolset that could not be reached can be',
  'effect.denied': 'the gate refused an effect of the session',
  'stale.ignored': 'something came back for a step that is over',
};

const CORRELATION: Readonly<Record<keyof typeof correlation, string>> = {
  session_id: 'the key of the session',
  run_id: '`<session>/r3`',
  turn_id: '`<session>/r3/t2`',
  step_id: '`<session>/r3/t2/s5`',
  event_seq: 'its place in the journal, `frame.record`: give it as `after` and exactly the rest comes',
  correlation_id: 'the run at the root: that of the session which no other spawned',
  causation: 'the id of the effect it follows from, or `<chain digest of the frame>#<record>`',
  at: 'the time of its frame, in milliseconds',
};

const COMMANDS: Readonly<Record<HostCommand['type'], readonly [call: string, what: string]>> = {
  Steer: ['session.steer', 'says something to the model before its next step'],
  FollowUp: ['session.followUp', 'says something after the current run, or as the next turn of one that is open'],
  Reconfigure: ['session.reconfigure', 'changes model, settings, instructions or limits from the next step on'],
  Pause: ['session.pause', 'lets what runs end, and begins nothing new'],
  Resume: ['session.resume', 'goes on; after a run that failed or was cancelled, takes up what waits'],
  Cancel: ['session.cancel', 'stops the turn, the run, or the run and all that waits'],
  Withdraw: ['session.withdraw', 'takes back a steer, a follow-up or an input that was not taken up'],
  Spawn: ['session.spawn', 'makes a child session and gives it its first input'],
  Note: ['world.decide', 'tells the model what the person said who decided about a call'],
  Compact: ['session.compact', 'replaces the older part of the conversation by a summary, before the next step'],
  Close: ['session.close', 'ends the session: what runs is cancelled, what waits is dropped'],
};

const REFUSALS: Readonly<Record<Rejection, string>> = {
  session_closed: 'the session was closed: it takes nothing any more',
  stale_epoch: 'the session is not where `ifEpoch` says; read its state and decide again',
  nothing_to_pause: 'no run is under way',
  nothing_to_resume: 'nothing is paused, and nothing waits behind a run that ended badly',
  nothing_to_cancel: 'no run is under way; with scope `all`, nothing waits either',
  already_paused: 'the run is paused',
  cancelling: 'the run is being cancelled',
  not_running: 'there is no run to steer; send an input',
  unknown_model: 'the world has no model of this alias',
  unknown_command: 'no steer, follow-up or input of this id waits',
  unknown_call: 'no call of this id is open',
  config_too_large: 'the configuration would take more than a session holds',
  too_many_steers: 'sixteen steers wait for the next step',
  queue_full: 'as many inputs wait as a session keeps',
  too_many_children: 'sixty-four children are open; close some',
  input_empty: 'an input has no parts',
  nothing_to_compact: 'nothing was said yet',
  compaction_off: "the agent says `compaction: 'off'`",
  already_compacting: 'it is asked for already, and done before the next step',
  model_without_price:
    'the limit in money cannot be kept: the model has no price; give its client a `price`, or take the limit away',
};

/** `docs/reference/agent-events.md`. */
export function agentEventsPage(): string {
  return [
    '# Agent events',
    '',
    '`AgentEvent@1` is what `run.events()`, `session.events()` and `world.events()` give: a projection of the journal, stored nowhere. The same frames give the same events. `agentEvent` of `reprise` is its schema. This page is made from it.',
    '',
    '## Every event',
    '',
    'A field that does not apply is null.',
    '',
    ...table(['field', 'meaning'], Object.entries(CORRELATION)),
    '',
    '## By type',
    '',
    'A `?` stands behind fields that may be absent. `text`, `reasoning`, `args` and `value` are put beside their link when they are no larger than 8 KiB (`inline` says otherwise). Under `channel: "model"` the types marked *operator* are left out, and so are `operator_ref`, `warnings_ref`, `error_ref`, `error`, the `blob_ref` of `artifacts`, and the `ref` of an approval that is of no call.',
    '',
    ...table(
      ['type', 'what happened', 'fields', 'channel'],
      AGENT_EVENT_TYPES.map((type) => [
        `\`${type}\``,
        EVENTS[type],
        fieldsOf(type),
        OPERATOR_ONLY.includes(type) ? 'operator' : 'both',
      ]),
    ),
    '',
    '## To the end of what is there',
    '',
    '`follow: false` ends `run.events()`, `session.events()` and `world.events()` with what is durable now, instead of waiting for more.',
    '',
    '## Resuming',
    '',
    '`after` takes the `event_seq` of any event, of this stream or another, and what comes is exactly the rest. It covers what is durable; of a step that is under way, what was said live comes again from its beginning. `session.events({ after })` and `world.events({ after })` begin to read at that place: what the events behind it need of those before is looked up in a view (`aos.agent/EventPlaces@1`), which is filled when events are first resumed and kept where the world’s views are. Give the world durable `views`, and it is filled once. `run.events({ after })` reads the run from its beginning.',
    '',
    '## Live',
    '',
    'Between the events of `run.stream()` come `delta {step_id, channel, index, text, after}`, a piece of what the model says (`channel`: text, reasoning, tool_args), and `delta.reset {step_id, after}`: what was said of this step does not count, its model is asked again. Neither is journaled; the step’s `llm_step.completed` stands in their place. Who listens late hears first what was said so far.',
    '',
  ].join('\n');
}

/** `docs/reference/session-commands.md`. */
export function sessionCommandsPage(): string {
  const types = hostCommand.options.map(({ shape }) => shape.type.value);
  return [
    '# Session commands',
    '',
    'What may be asked of a session, and why it may be refused. A command is accepted or rejected in the frame that takes it in; either is an event. Under the same id and with the same content it happens once. `{ id, ifEpoch, as }` are options of each. This page is made from the contract.',
    '',
    ...table(
      ['command', 'by', 'what it does'],
      types.map((type) => [`\`${type}\``, `\`${COMMANDS[type][0]}\``, COMMANDS[type][1]]),
    ),
    '',
    '## Refusals',
    '',
    '`session_absent` is told without a journal: nobody has spoken to the session yet.',
    '',
    ...table(
      ['code', 'meaning'],
      REJECTIONS.map((code) => [`\`${code}\``, REFUSALS[code]]),
    ),
    '',
  ].join('\n');
}

function fieldsOf(type: AgentEventType): string {
  const shape: Readonly<Record<string, z.ZodType>> = AGENT_EVENTS[type].shape;
  return Object.entries(shape)
    .filter(([name]) => name !== 'type' && !Object.hasOwn(correlation, name))
    .map(([name, schema]) => `\`${name}${schema.def.type === 'optional' ? '?' : ''}\``)
    .join(' ');
}
