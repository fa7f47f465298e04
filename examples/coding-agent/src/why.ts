/** Explains why something happened: follows the causes of events from a call or a file back to the user's message. */
import { type AgentEvent, type AgentEventOf, actorWords } from 'reprise';
import { frameOf } from './log.js';
import { callLine } from './terminal/calls.js';
import { plain } from './terminal/text/plain.js';

type Requested = AgentEventOf<'tool.requested'>;
type Settled = AgentEventOf<'tool.completed'> | AgentEventOf<'tool.failed'>;

const WRITERS: ReadonlySet<string> = new Set(['edit_file', 'write_file']);
const TEXT_UNITS = 160;

/**
 * Explains a call: the last one, the one with an id, or the last one that wrote a file.
 *
 * @param what the path of a file, the id of a call, or nothing
 * @param steers messages sent during runs, in the order in which the model read them
 * @returns lines; undefined if no call matches
 */
export function whyLines(
  events: readonly AgentEvent[],
  what: string,
  steers: readonly string[],
): readonly string[] | undefined {
  const call = events.findLast((event): event is Requested => event.type === 'tool.requested' && isMeant(event, what));
  if (call === undefined) return undefined;
  const own = eventsOfRun(events, call.run_id);
  return [
    ...aboutCall(own, call),
    ...aboutStep(own, call),
    ...aboutWords(own),
    ...aboutSteers(events, own, call, steers),
  ];
}

/** The events of a run, and the messages sent to its session meanwhile. */
function eventsOfRun(events: readonly AgentEvent[], run: string | null): AgentEvent[] {
  const frames = events.filter(({ run_id }) => run_id === run).map(frameOf);
  const [first = 0, last = 0] = [frames[0], frames.at(-1)];
  const isOwn = (event: AgentEvent) =>
    event.run_id === run || (event.run_id === null && frameOf(event) >= first && frameOf(event) <= last);
  return events.filter(isOwn);
}

function isMeant({ tool, args, call_id }: Requested, what: string): boolean {
  if (what === '' || call_id === what) return true;
  return WRITERS.has(tool) && (args as { readonly path?: unknown } | undefined)?.path === what;
}

function aboutCall(events: readonly AgentEvent[], call: Requested): string[] {
  const settled = events.find((event): event is Settled => isSettled(event) && event.call_id === call.call_id);
  const asked = events.find((event) => event.type === 'human.requested' && event.call_id === call.call_id);
  const decided = events.find(
    (event): event is AgentEventOf<'human.resolved'> =>
      event.type === 'human.resolved' &&
      asked?.type === 'human.requested' &&
      (event.id === asked.id || event.also?.includes(asked.id) === true),
  );
  const end = settled === undefined ? 'not over' : settled.type === 'tool.completed' ? 'done' : 'not done, or failed';
  return [
    `${callLine(call.tool, call.args)}   ${call.call_id}, ${end}, ${at(settled ?? call)}`,
    ...(settled === undefined ? [] : [`  by effect ${settled.causation.slice(0, 16)}`]),
    ...(decided === undefined ? [] : [`  ${decided.how} by ${deciderOf(decided)}, ${at(decided)}`]),
  ];
}

/** Who decided, and the reason where there is one. */
function deciderOf({ actor, reason }: AgentEventOf<'human.resolved'>): string {
  const who = actor === undefined ? 'nobody' : actorWords(actor);
  return reason === undefined ? who : `${who}: "${short(reason)}"`;
}

/** The model's answer that made the call, and what the model had newly read before it. */
function aboutStep(events: readonly AgentEvent[], call: Requested): string[] {
  const answer = events.find((event) => event.type === 'llm_step.completed' && event.step_id === call.step_id);
  if (answer?.type !== 'llm_step.completed') return [];
  const asked = events.findIndex((event) => event.type === 'llm_step.requested' && event.step_id === call.step_id);
  const before = events.slice(0, asked).findLastIndex(({ type }) => type === 'llm_step.requested');
  const read = events.slice(before + 1, asked + 1).flatMap((event) => newTo(events, event));
  const said = answer.text === undefined ? '' : `: "${short(answer.text)}"`;
  return [
    `because the model said so in step ${call.step_id?.split('/s').at(-1)}, ${at(answer)}${said}`,
    ...(read.length === 0 ? [] : ['  after it had read', ...read.map((line) => `    ${line}`)]),
  ];
}

/** What the model read because of an event between two steps. */
function newTo(events: readonly AgentEvent[], event: AgentEvent): string[] {
  if (!isSettled(event)) return [];
  const call = events.find((one): one is Requested => one.type === 'tool.requested' && one.call_id === event.call_id);
  return [`${callLine(event.tool, call?.args)}, ${at(event)}: "${short(event.text ?? event.type)}"`];
}

function aboutWords(events: readonly AgentEvent[]): string[] {
  const input = events.find((event) => event.type === 'input.accepted');
  return input?.type === 'input.accepted'
    ? [`in answer to your words, ${at(input)}: "${short(input.text ?? '')}"`]
    : [];
}

/** The user's messages in the run, up to the call. */
function aboutSteers(
  events: readonly AgentEvent[],
  own: readonly AgentEvent[],
  call: Requested,
  steers: readonly string[],
): string[] {
  const read = events.filter((event) => event.type === 'command.applied' && event.command === 'Steer');
  return read.flatMap((event, i) => {
    const isBefore = own.includes(event) && frameOf(event) <= frameOf(call);
    return isBefore ? [`and to what you said meanwhile, ${at(event)}: "${short(steers[i] ?? '')}"`] : [];
  });
}

function isSettled(event: AgentEvent): event is Settled {
  return event.type === 'tool.completed' || event.type === 'tool.failed';
}

function at(event: AgentEvent): string {
  return `frame ${frameOf(event)}`;
}

function short(text: string): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  return line.length > TEXT_UNITS ? `${line.slice(0, TEXT_UNITS)}…` : line;
}
