/** The entry of each event of a session: what happened, in words. */
import { limitAmount, limitName, type Ref } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { readLlmOutput } from '../content/transcript.js';
import type { AgentEvent, AgentEventOf, AgentEventType } from '../contracts/agent-event.js';
import type { OwnerReply } from '../contracts/owner.js';
import type { Files } from './effects.js';
import type { HistoryEntry, TextBounds } from './entry.js';
import { runOf, stepOf } from './places.js';
import type { Question } from './questions.js';
import {
  actedWords,
  amount,
  bounded,
  inline,
  nonExecutionWords,
  quoted,
  shortRef,
  stopWords,
  textAt,
  usageWords,
  valueAt,
} from './words.js';

/** An entry without its place. */
export type Body = Omit<HistoryEntry, 'place' | 'at' | 'session' | 'run'>;

/** What the words of an event are made with. */
export interface WordsContext {
  readonly content: ContentReader;
  readonly bounds: TextBounds;
  /** The files that the receipt of this frame reports. */
  readonly files: Files;
  /** Of a decision: the request that it answers. */
  readonly question: Question | undefined;
}

/** The entry of an event; undefined for events that other entries imply. */
export async function eventBody(event: AgentEvent, context: WordsContext): Promise<Body | undefined> {
  return (WORDS[event.type] as Words<AgentEventType>)(event, context);
}

type Words<T extends AgentEventType> = (
  event: AgentEventOf<T>,
  context: WordsContext,
) => Body | undefined | Promise<Body | undefined>;

const hidden = () => undefined;

const WORDS: { readonly [T in AgentEventType]: Words<T> } = {
  'input.accepted': (event) =>
    event.moved_from === undefined
      ? undefined
      : entry('run', null, `a waiting message moves from run ${event.moved_from} to run ${runOf(event)}`),
  'input.dropped': ({ why }) => entry('run', null, `a message that waited for this run is dropped: ${why}`),
  'turn.started': hidden,
  lifecycle: lifecycleBody,
  'llm_step.requested': hidden,
  'llm_step.completed': answerBody,
  'llm_step.failed': async (event, { content }) =>
    entry(
      'failure',
      'model',
      `the model call failed: ${event.code}${event.again ? '; it is made again' : ''}${await errorWords(content, event.error_ref)}`,
    ),
  'tool.requested': async ({ call_id, tool, ref }, { content, bounds }) => {
    const args = await argsText(content, ref);
    return {
      ...entry('call', 'model', `calls ${tool} ${call_id}: ${bounded(args, bounds.data)}`),
      ...{ call_id, tool, ref },
    };
  },
  'tool.completed': resultBody,
  'tool.failed': failedBody,
  'tool.bounded': hidden,
  'tool.waiting': waitingBody,
  'tool.late': async ({ call_id, tool, status, ref }, { content, bounds }) => {
    const text = ref === undefined ? undefined : await textAt(content, ref);
    const words = `${tool} ${call_id} is answered late (${status})${text === undefined ? '' : `: ${quoted(text, bounds.data, ref)}`}`;
    return { ...entry('failure', tool, words), call_id, tool, ...(ref === undefined ? {} : { ref }) };
  },
  'human.requested': questionBody,
  'human.resolved': resolvedBody,
  'child.spawned': ({ child, session, agent }) =>
    entry('child', null, `makes child ${child}: session ${session}, agent ${agent}`),
  'child.changed': ({ child, session, status }) =>
    status === 'closed' ? entry('child', null, `child ${child} (session ${session}) is closed`) : undefined,
  'child.ended': async ({ child, session, status, ref }, { content, bounds }) => {
    const text = ref === undefined ? undefined : await answerText(content, ref);
    const report = text === undefined ? '' : `: ${quoted(text, bounds.data, ref)}`;
    return {
      ...entry('child', `session ${session}`, `child ${child} (session ${session}) ${status}${report}`),
      ...(ref === undefined ? {} : { ref }),
    };
  },
  'command.accepted': hidden,
  'command.rejected': ({ command, code }) => entry('command', null, `the command ${command} is refused: ${code}`),
  'command.applied': hidden,
  'command.dropped': ({ command, why }) => entry('command', null, `the command ${command} is dropped: ${why}`),
  'config.changed': ({ config_rev, model, from_run }) =>
    entry(
      'config',
      null,
      `configuration ${config_rev}: model ${model}${from_run === null ? '' : `, from run ${from_run} on`}`,
    ),
  'owner.answered': async ({ call_id, answer, is_error }, { content, bounds }) => ({
    ...entry(
      'result',
      'owner',
      `the owner ${is_error ? 'refuses' : 'answers'} ${call_id}: ${await ownerText(content, answer, bounds)}`,
    ),
    call_id,
  }),
  'context.pressure': ({ percent, tokens, window }) =>
    entry('limit', null, `the context window is ${percent}% full: ${tokens} of ${window} tokens`),
  'compaction.started': hidden,
  'context.compacted': async ({ ref, from, to }, { content, bounds }) => {
    const text = await answerText(content, ref);
    const words = `a summary replaces items ${from} to ${to} in the window${text === undefined ? '' : `: ${quoted(text, bounds.data, ref)}`}`;
    return { ...entry('window', 'model', words), ref };
  },
  'compaction.failed': async (event, { content }) =>
    entry('failure', 'model', `no summary was written: ${event.code}${await errorWords(content, event.error_ref)}`),
  'budget.pressure': ({ percent, limit, used, of }) =>
    entry('limit', null, `${percent}% of the limit ${limitName(limit)} is used: ${usedWords(limit, used, of)}`),
  'loop.detected': ({ length, repeats, action }) =>
    entry('limit', null, `the model repeated the same ${amount(length, 'call')} ${repeats} times; action: ${action}`),
  'limit.reached': ({ limit, used, of }) =>
    entry('limit', null, `the limit ${limitName(limit)} is reached: ${usedWords(limit, used, of)} used`),
  'usage.differs': ({ how, reserved, used }) =>
    entry(
      'limit',
      'model',
      `the usage of the model call differs from its reservation (${how}): reserved ${inline(reserved)}, used ${inline(used)}`,
    ),
  'toolset.changed': ({ toolset, version, added, removed, changed, withheld }) =>
    entry(
      'toolset',
      null,
      `toolset ${toolset} changes to version ${version.slice(0, 12)}: ${added} new, ${removed} removed, ${changed} changed, ${withheld} withheld`,
    ),
  'toolset.decided': ({ toolset, approved }) =>
    entry('toolset', null, `the withheld tools of toolset ${toolset} are ${approved ? 'approved' : 'refused'}`),
  'toolset.unreachable': async ({ toolset, code, ref }, { content, bounds }) => {
    const why = ref === undefined ? undefined : await textAt(content, ref);
    return entry(
      'failure',
      null,
      `toolset ${toolset} is unreachable: ${code}${why === undefined ? '' : `: ${quoted(why, bounds.data)}`}`,
    );
  },
  'toolset.reachable': ({ toolset }) => entry('toolset', null, `toolset ${toolset} is reachable again`),
  'effect.denied': ({ what, code }) => entry('failure', 'kernel', `${what} is denied: ${code}`),
  'stale.ignored': hidden,
};

function entry(kind: Body['kind'], by: string | null, words: string): Body {
  return { kind, by, words };
}

async function lifecycleBody(event: AgentEventOf<'lifecycle'>, { content }: WordsContext): Promise<Body | undefined> {
  const run = `run ${runOf(event)}`;
  if (event.stop !== undefined) {
    const error = await errorWords(content, event.error_ref);
    const words = `${run} ends: ${stopWords(event.stop)}${usageWords(event.usage)}${error}`;
    return { ...entry('end', null, words), ...(event.ref === undefined ? {} : { ref: event.ref }) };
  }
  switch (event.news) {
    case 'started':
      return undefined; // the message that starts the run is an entry
    case 'waiting': {
      const what = event.waiting?.for;
      // A question or a child is an entry of its own.
      return what === 'input' || what === 'limit' ? entry('run', null, `${run} waits: ${WAITS[what]}`) : undefined;
    }
    case 'resumed':
      return event.from === 'Paused' ? entry('run', null, `${run} goes on`) : undefined;
    default:
      return entry('run', null, `${run} is ${event.news}`);
  }
}

const WAITS = { input: 'for a message', limit: 'at a limit, for more' } as const;

async function answerBody(event: AgentEventOf<'llm_step.completed'>, { content, bounds }: WordsContext): Promise<Body> {
  const text = await answerText(content, event.ref);
  const state = [
    `step ${stepOf(event)}`,
    ...(event.interrupted ? ['stopped during its answer'] : FINE.has(event.finish_reason) ? [] : [event.finish_reason]),
    ...(event.calls.length === 0 ? [] : [amount(event.calls.length, 'call')]),
  ];
  const said = text === undefined || text === '' ? '' : `: ${quoted(text, bounds.said, event.ref)}`;
  return {
    ...entry('answer', 'model', `model answers (${state.join(', ')})${said}`),
    ...(text === undefined ? {} : { text }),
    ref: event.ref,
  };
}

/** Reasons to finish that are not worth a word. */
const FINE: ReadonlySet<string> = new Set(['stop', 'tool_calls', 'interrupted']);

function waitingBody({ call_id, tool, for: what }: AgentEventOf<'tool.waiting'>): Body | undefined {
  // A question to a person is an entry of its own.
  if (what !== 'children' && what !== 'owner') return undefined;
  const whom = what === 'children' ? 'its child sessions' : "the session's owner";
  return { ...entry('run', tool, `${tool} ${call_id} waits for ${whom}`), call_id, tool };
}

/** What the owner of a session answered: its value, and the texts that it points to. */
async function ownerText(content: ContentReader, { value, refs }: OwnerReply, bounds: TextBounds): Promise<string> {
  const texts = await Promise.all(
    refs.map(async ({ label, ref }) => {
      const text = await textAt(content, ref);
      return `${label}: ${text === undefined ? '(erased)' : quoted(text, bounds.data, ref)}`;
    }),
  );
  return [bounded(inline(value), bounds.data), ...texts].join('; ');
}

async function resultBody(
  event: AgentEventOf<'tool.completed'>,
  { content, bounds, files }: WordsContext,
): Promise<Body> {
  const { call_id, tool, ref, truncated, edited_args_ref } = event;
  const text = ref === undefined ? undefined : await textAt(content, ref);
  const notes = [
    ...files.changes.map(({ path, after_ref }) =>
      after_ref === null ? `removes ${path}` : `writes ${path}, ${shortRef(after_ref)}`,
    ),
    ...files.artifacts.map((path) => `makes ${path}`),
    ...(truncated ? ['cut for the model'] : []),
    ...(edited_args_ref === undefined ? [] : [`with arguments that a person edited, ${shortRef(edited_args_ref)}`]),
  ];
  const state = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  const said = text === undefined ? await unquoted(event, content, bounds) : quoted(text, bounds.data, ref);
  return {
    ...entry('result', tool, `${tool} ${call_id} returns${state}: ${said}`),
    call_id,
    tool,
    ...(ref === undefined ? {} : { ref }),
    ...(text === undefined ? {} : { text }),
  };
}

/** What is said of a result without a text of its own. */
async function unquoted(
  { answer, ref }: AgentEventOf<'tool.completed'>,
  content: ContentReader,
  bounds: TextBounds,
): Promise<string> {
  if (answer !== undefined) return ownerText(content, answer, bounds);
  return ref === undefined ? 'the results of its child sessions' : '(erased)';
}

async function failedBody(event: AgentEventOf<'tool.failed'>, { content, bounds }: WordsContext): Promise<Body> {
  const { call_id, tool, code, non_execution, ref, answer } = event;
  const text = ref === undefined ? undefined : await textAt(content, ref);
  const how =
    non_execution === undefined ? `fails${code === null ? '' : `: ${code}`}` : nonExecutionWords(non_execution);
  const said =
    text !== undefined
      ? `: ${quoted(text, bounds.data, ref)}`
      : answer !== undefined
        ? `: ${await ownerText(content, answer, bounds)}`
        : await errorWords(content, event.error_ref);
  return {
    ...entry('result', tool, `${tool} ${call_id} ${how}${said}`),
    call_id,
    tool,
    ...(ref === undefined ? {} : { ref }),
    ...(text === undefined ? {} : { text }),
  };
}

async function questionBody(
  event: AgentEventOf<'human.requested'>,
  { content, bounds, question }: WordsContext,
): Promise<Body> {
  const { id, kind, to } = event;
  const [tool, call_id] = [question?.tool ?? event.tool, question?.call_id ?? event.call_id];
  const value = event.value ?? (event.ref === undefined ? undefined : await valueAt(content, event.ref));
  const what = [tool, call_id].filter((part) => part !== null).join(' ');
  const shown = value === undefined ? '' : `: ${bounded(inline(value), bounds.data)}`;
  const whom = to === null ? 'the operator' : to;
  const words =
    kind === 'approval'
      ? `request ${id.slice(0, 12)} to ${whom}: approve ${what === '' ? 'the withheld tools of a toolset' : what}${shown}`
      : `request ${id.slice(0, 12)} to ${whom}: question${what === '' ? '' : ` of ${what}`}${shown}`;
  return {
    ...entry('question', tool, words),
    ...(call_id === null ? {} : { call_id }),
    ...(tool === null ? {} : { tool }),
  };
}

async function resolvedBody(
  { id, how, by, actor, also, ref }: AgentEventOf<'human.resolved'>,
  { question, content, bounds }: WordsContext,
): Promise<Body> {
  const of = question?.call_id === undefined ? '' : ` ${question.tool} ${question.call_id}`;
  const others = also === undefined ? '' : `, and ${amount(also.length, 'other request')} of the call`;
  const notes = question?.notes === undefined || question.notes.length === 0 ? '' : ` (${question.notes.join('; ')})`;
  const request = `request ${id.slice(0, 12)}${others}`;
  const words =
    by === null || how === 'expired'
      ? `${request} is ${how}${of}`
      : `${actedWords(by, actor)} ${DECIDES[how]}${of}${notes}: ${request}`;
  const reason = ref === undefined ? '' : `: ${quoted((await textAt(content, ref)) ?? '(erased)', bounds.said, ref)}`;
  return {
    ...entry('decision', by, `${words}${reason}`),
    ...(actor === undefined ? {} : { actor }),
    ...(ref === undefined ? {} : { ref }),
    ...(question?.call_id === undefined ? {} : { call_id: question.call_id, tool: question.tool }),
  };
}

const DECIDES = { approved: 'approves', denied: 'refuses', answered: 'answers', cancelled: 'cancels' } as const;

/** The arguments of a call as text. */
export async function argsText(content: ContentReader, ref: Ref): Promise<string> {
  const args = await valueAt(content, ref);
  return args === undefined ? '(erased)' : inline(args);
}

/** The text of a model's answer; undefined when it was erased or is missing. */
export function answerText(content: ContentReader, ref: Ref): Promise<string | undefined> {
  return readLlmOutput(content, ref).then(
    ({ text }) => text ?? '',
    () => undefined,
  );
}

async function errorWords(content: ContentReader, ref: Ref | undefined): Promise<string> {
  if (ref === undefined) return '';
  const detail = (await valueAt(content, ref)) as { readonly name?: unknown; readonly message?: unknown } | undefined;
  return detail === undefined ? '' : `: ${words(detail.name)}: ${words(detail.message)}`;
}

function words(thing: unknown): string {
  return typeof thing === 'string' ? thing : inline(thing);
}

function usedWords(limit: string, used: number, of: number): string {
  return `${limitAmount(limit, used)} of ${limitAmount(limit, of)}`;
}
