/** The reference pages of sessions, generated from the schemas: a type or a code without a description breaks the build. */
import {
  AGENT_EVENT_TYPES,
  AGENT_EVENTS,
  type AgentEventType,
  correlation,
  OPERATOR_ONLY,
  REJECTIONS,
  type Rejection,
  type SessionCommand,
  sessionCommandBody,
} from '@reprise/agent';
import type { AnySchema } from '@reprise/contracts/schema';
import { table } from './docs-table.js';

const EVENTS: Readonly<Record<AgentEventType, string>> = {
  'input.accepted': 'an input was accepted; it starts the run, or waits behind earlier inputs',
  'input.dropped': 'an input that was to be a turn of this run will not be sent to the model; the run continues',
  'turn.started': 'a message with the role of a user is sent to the model',
  lifecycle:
    'the state of the run changed: `news` says how, `stop` says why the run ended; a run that goes from `Queued` to an end never started',
  'llm_step.requested': 'the model is called',
  'llm_step.completed': 'the model answered',
  'llm_step.failed': 'the model call failed permanently; `again` says whether the session makes it once more',
  'tool.requested': 'the model calls a tool',
  'tool.completed': 'the call has its result',
  'tool.failed': 'the call failed or was not executed: `non_execution` says which',
  'tool.bounded': 'the output was truncated for the model; the full output is behind `operator_ref`',
  'tool.waiting':
    'the call waits for a person, for child sessions, or for a person or agent whom the owner of the session asks',
  'tool.late': 'a call that was reported without an output has been answered after all',
  'human.requested': 'a person has to decide or answer: `id` is the argument of `world.decide`',
  'human.resolved':
    'the request was decided or answered, or has ended: `by` is the principal whose rights counted, `actor` the person, rule, program or node that acted, `ref` and `reason` the words that came with the decision; `also` lists other requests of the same call that ended with it',
  'child.spawned': 'a child session was created',
  'child.changed': 'a child started working, started waiting, or was closed',
  'child.ended': 'a child has finished',
  'command.accepted': 'a session command was accepted',
  'command.rejected': 'a session command was rejected and changed nothing',
  'command.applied':
    'an accepted command has taken effect; each accepted command is either applied once or dropped once',
  'command.dropped': 'an accepted command will not take effect: `why` gives the reason',
  'config.changed': 'the configuration changed, from run `from_run` on or immediately',
  'context.pressure': 'the model’s context window is filled to the given percentage',
  'budget.pressure': 'a limit is used up to the given percentage',
  'usage.differs':
    'a model call used more than its reservation, or did not report its usage so that the reservation counts, or reported it after the call was given up',
  'loop.detected': 'the model repeated the same calls; `action` is the response',
  'compaction.started': 'a model is called for a summary of the older part of the conversation',
  'context.compacted': 'this summary replaces that part in the prompt from now on; the transcript keeps it',
  'compaction.failed': 'there is no summary: `nothing_to_compact`, or the code of a failure',
  'limit.reached': 'a limit forbids the next step',
  'toolset.changed':
    'a toolset offers different tools than the session has adopted: the numbers of new, removed, changed and withheld tools',
  'toolset.decided': 'a person decided about the withheld tools of a toolset',
  'toolset.unreachable': 'a toolset cannot be reached: calls of its tools fail until it is reachable again',
  'toolset.reachable': 'a toolset is reachable again',
  'effect.denied': 'the gate denied an effect of the session',
  'owner.answered': 'the owner of the session answered a call of the program that works during this turn',
  'stale.ignored': 'a result arrived for a step that has ended, and was ignored',
};

const CORRELATION: Readonly<Record<keyof typeof correlation, string>> = {
  session_id: 'the key of the session',
  run_id: '`<session>/r3`',
  turn_id: '`<session>/r3/t2`',
  step_id: '`<session>/r3/t2/s5`',
  event_seq: 'its place in the journal, `frame.record`: pass it as `after` to receive exactly the events that follow',
  correlation_id: 'the root run: the run of the top session, which no other session spawned',
  causation: 'the id of the effect that caused it, or `<chain digest of the frame>#<record>`',
  at: 'the time of its frame, in milliseconds since 1970',
};

const COMMANDS: Readonly<Record<SessionCommand['type'], readonly [call: string, what: string]>> = {
  Steer: ['session.steer', 'sends a message to the model before its next step'],
  FollowUp: [
    'session.followUp',
    'sends a message after the current run, or as the next turn of a run that waits for input',
  ],
  Reconfigure: ['session.reconfigure', 'changes model, settings, instructions or limits from the next step on'],
  Pause: ['session.pause', 'lets running work finish, and begins nothing new'],
  Resume: [
    'session.resume',
    'continues a paused run; after a run that failed or was canceled, starts the waiting inputs',
  ],
  Cancel: ['session.cancel', 'stops the turn, the run, or the run and all waiting inputs'],
  Retry: ['session.retry', 'answers the input of the last run anew, when that run did not complete'],
  Withdraw: ['session.withdraw', 'takes back a steer, a follow-up or an input that still waits'],
  Spawn: ['session.spawn', 'creates a child session and sends its first input'],
  Compact: ['session.compact', 'replaces the older part of the conversation with a summary, before the next step'],
  Drop: ['session.drop', 'takes a file or an image out of the conversation: the model is told its name only'],
  Close: ['session.close', 'ends the session: running work is canceled, waiting inputs are dropped'],
};

const REFUSALS: Readonly<Record<Rejection, string>> = {
  session_closed: 'the session is closed and accepts nothing more',
  stale_epoch: 'the epoch of the session differs from `ifEpoch`; read its state and decide again',
  nothing_to_pause: 'no run is in progress',
  nothing_to_resume: 'no run is paused, and no input waits behind a run that failed or was canceled',
  nothing_to_cancel: 'no run is in progress; with scope `all`, no input waits either',
  nothing_to_retry: 'the last run completed, a run is in progress, or another run than the last is named',
  has_owner: 'another cell leads the session and counts its runs: retry there',
  already_paused: 'the run is already paused',
  cancelling: 'the run is being canceled',
  not_running: 'there is no run to steer; send an input instead',
  unknown_model: 'the world has no model with this alias',
  unknown_command: 'no waiting steer, follow-up or input has this id',
  config_too_large: 'the configuration would be larger than a session can store',
  too_many_steers: 'sixteen steers already wait for the next step',
  queue_full: 'the queue of waiting inputs is full',
  too_many_children: 'sixty-four children are open; close some first',
  input_empty: 'the input has no parts',
  nothing_to_compact: 'the conversation is empty',
  compaction_off: "the agent's definition says `compaction: 'off'`",
  already_compacting: 'a compaction is already requested and happens before the next step',
  already_dropped: 'the content is out of the conversation already',
  too_many_dropped: 'sixty-four files and images are out of the conversation; begin a new session',
  model_without_price:
    'the limit in money cannot be enforced because the model has no price; give its client a `price`, or remove the limit',
};

/** `docs/reference/agent-events.md`. */
export function agentEventsPage(): string {
  return [
    '# Agent events',
    '',
    '`run.events()`, `session.events()` and `world.events()` yield values of `AgentEvent@1`. They are a projection of the journal: computed from frames, never stored. The same frames give the same events. The schema is `agentEvent` of `reprise/history`; this page is generated from it. In names such as `aos.agent/EventPlaces@1`, `aos` is the vocabulary of the agent specification that this SDK implements.',
    '',
    '## Every event',
    '',
    'Every event has these fields. A field that does not apply is null.',
    '',
    ...table(['field', 'meaning'], Object.entries(CORRELATION)),
    '',
    '## By type',
    '',
    'A `?` marks fields that may be absent. `text`, `reasoning`, `args` and `value` are included beside their link when they are at most 8 KiB; the option `inline` changes this bound. With `channel: "model"`, these are omitted: the types marked *operator*, the fields `operator_ref`, `warnings_ref`, `error_ref` and `error`, the `blob_ref` of `artifacts`, and the `ref` of an approval that does not belong to a call.',
    '',
    '`world.events({ beside })` puts events of your own between them: `beside` makes them of a frame, such as of the facts of your cells, and each states the place of its record as `event_seq`. What makes them must be a function of the frame, so that a reader who goes on behind a cursor is told the same.',
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
    '## Without waiting',
    '',
    'With `follow: false`, `run.events()`, `session.events()` and `world.events()` end after the events that are durable now, instead of waiting for more.',
    '',
    '## Resuming',
    '',
    '`after` takes the `event_seq` of any event, from this stream or another one, and the stream continues with exactly the events that follow. This covers durable events. The live output of a step in progress is sent again from the beginning of the step. `session.events({ after })` and `world.events({ after })` start to read at that place. Data from earlier events is looked up in a view (`aos.agent/EventPlaces@1`), which is computed when events are first resumed and stored with the world’s views. If the world has durable `views`, this happens only once. `run.events({ after })` reads the run from its beginning.',
    '',
    '## Live',
    '',
    '`run.stream()` adds two kinds of live values between the events. `delta {step_id, channel, index, text, after}` is a piece of the model’s output (`channel`: text, reasoning, tool_args). `delta.reset {step_id, after}` says that the output of this step so far is discarded because the model is called again. Neither is journaled; the step’s `llm_step.completed` replaces them. A subscriber that connects late first receives the output so far.',
    '',
  ].join('\n');
}

/** `docs/reference/session-commands.md`. */
export function sessionCommandsPage(): string {
  const types = sessionCommandBody.options.map(({ shape }) => shape.type.value);
  return [
    '# Session commands',
    '',
    'This page lists the commands of a session and the codes with which a session rejects them. A command is accepted or rejected in the frame that records it, and an event reports either. A command that is sent again under the same id and with the same content takes effect once. Every command takes the options `{ id, ifEpoch, as, actor }`: `as` is the principal whose rights count, `actor` says who acts where that does not follow from it. This page is generated from the schemas.',
    '',
    ...table(
      ['command', 'by', 'what it does'],
      types.map((type) => [`\`${type}\``, `\`${COMMANDS[type][0]}\``, COMMANDS[type][1]]),
    ),
    '',
    '## Refusals',
    '',
    'The code `session_absent` does not come from the journal: the session does not exist yet, because it has received no input.',
    '',
    ...table(
      ['code', 'meaning'],
      REJECTIONS.map((code) => [`\`${code}\``, REFUSALS[code]]),
    ),
    '',
  ].join('\n');
}

function fieldsOf(type: AgentEventType): string {
  const shape: Readonly<Record<string, AnySchema>> = AGENT_EVENTS[type].shape;
  return Object.entries(shape)
    .filter(([name]) => name !== 'type' && !Object.hasOwn(correlation, name))
    .map(([name, schema]) => `\`${name}${schema._zod.def.type === 'optional' ? '?' : ''}\``)
    .join(' ');
}
