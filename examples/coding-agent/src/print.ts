/** Runs one task without a terminal: prints the answer to standard output and the events to standard error. */
import type { AgentEvent, AgentWorld, Pending, Run, Session } from 'reprise';
import { failureWords } from 'reprise/history';
import { print, printError } from 'reprise/terminal';
import { eventsOf } from './log.js';
import { PRINT } from './person.js';
import { callLine, failureLines } from './terminal/calls.js';
import { plain } from './terminal/text/plain.js';
import { textOf } from './terminal/text/spans.js';

/** The task. */
export interface PrintOptions {
  readonly task: string;
  /** The id of the task: a task with a known id is not done twice. */
  readonly id: string | undefined;
  /** Whether requests for approval are approved; otherwise they are denied. */
  readonly yes: boolean;
}

/** The exit codes of a task. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, needsPerson: 3, refused: 4 } as const;

const NOBODY = 'No person is available to approve this. Do what you can without it.';

/**
 * Runs a task. Decides the questions and requests for approval of its own run at once, because no person is there. What
 * another run of the conversation asks was not asked of this command: a person has to decide it.
 *
 * @returns the exit code
 */
export async function printed(world: AgentWorld, session: Session<string>, options: PrintOptions): Promise<number> {
  const own = await runOf(session, options.id);
  const waiting = await waitingFor(world, session, own);
  if (waiting !== undefined) return needsPerson(waiting);
  const run = await session.send(options.task, { ...PRINT, ...(options.id === undefined ? {} : { id: options.id }) });
  const left = new AbortController();
  const asked = decideAll(world, session, run, { yes: options.yes, signal: left.signal });
  const watched = watch(run).finally(() => left.abort());
  const stopped = await Promise.race([watched.then(() => undefined), asked]);
  if (stopped !== undefined) {
    watched.catch(() => undefined); // the world closes under it
    await session.withdraw(run.input ?? '', PRINT).catch(() => undefined);
    return needsPerson(stopped);
  }
  const { text, stop, error } = await run.result();
  if (text !== '') print(plain(text));
  if (stop.kind === 'Completed') return doneBut(await watched);
  printError(stop.kind === 'Failed' ? `failed: ${failureWords(stop.code, error)}` : stop.kind);
  return EXIT.failed;
}

/** The exit code of a completed task: a script must be able to tell that something in it was not allowed. */
function doneBut(refused: number): number {
  if (refused === 0) return EXIT.done;
  const calls = refused === 1 ? 'One call was' : `${refused} calls were`;
  printError(`${calls} refused, because no person was here to approve; --yes approves all calls.`);
  return EXIT.refused;
}

/** Prints the events of a run. @returns how many requests for approval were refused */
async function watch(run: Run<string>): Promise<number> {
  let refused = 0;
  for await (const event of run.events()) {
    if (event.type === 'human.resolved' && event.how === 'denied') refused++;
    if (event.type === 'tool.requested') printError(`● ${callLine(event.tool, event.args)}`);
    if (event.type === 'tool.failed') for (const line of failureLines(event).lines) printError(`  ${textOf(line)}`);
    if (event.type === 'llm_step.failed' && event.again)
      printError(`the model failed, and is asked again: ${failureWords(event.code, event.error)}`);
  }
  return refused;
}

/** The id of the run that a known message began. */
async function runOf(session: Session<string>, id: string | undefined): Promise<string | undefined> {
  if (id === undefined) return undefined;
  const isOwn = (event: AgentEvent): boolean => event.type === 'input.accepted' && event.command_id === id;
  return (await eventsOf(session)).findLast(isOwn)?.run_id ?? undefined;
}

/** What waits for a person in another run than this one, in one line. */
async function waitingFor(
  world: AgentWorld,
  session: Session<string>,
  own: string | undefined,
): Promise<string | undefined> {
  const [item] = await world.pending({ session: session.key });
  if (item === undefined) return undefined;
  const asked = (await eventsOf(session)).findLast((event) => event.type === 'human.requested' && event.id === item.id);
  if (own !== undefined && asked?.run_id === own) return undefined;
  return described(item);
}

function needsPerson(what: string): number {
  printError(`An earlier run of this conversation waits for a person: ${plain(what)}`);
  printError('Start the agent here without --print to decide, or give --new for a conversation of its own.');
  return EXIT.needsPerson;
}

/** Decides the pending items of a run; returns what another run of the session waits for, when one asks. */
async function decideAll(
  world: AgentWorld,
  session: Session<string>,
  run: Run<string>,
  { yes, signal }: { readonly yes: boolean; readonly signal: AbortSignal },
): Promise<string | undefined> {
  for await (const event of world.events({ signal })) {
    if (event.type !== 'human.requested' || event.session_id !== session.key) continue;
    const item = (await world.pending({ session: session.key })).find(({ id }) => id === event.id);
    if (item === undefined) continue;
    if (event.run_id !== run.id) return described(item);
    if (item.kind === 'approval') await world.decide(item, yes ? { approve: true } : { deny: NOBODY }, PRINT);
    else await world.answer(item, item.question?.options?.[0]?.id ?? NOBODY, PRINT);
  }
  return new Promise(() => undefined); // the run has ended, and its result counts
}

function described(item: Pending): string {
  return item.kind === 'question' ? (item.question?.question ?? 'a question') : callLine(item.tool ?? '', item.args);
}
