/** Runs one task without a terminal: prints the answer to standard output and the events to standard error. */
import type { AgentWorld, Outcome, Session } from 'reprise';
import { callLine, failureLines } from './terminal/calls.js';
import { paintFor, plain } from './terminal/paint.js';

/** The task. */
export interface PrintOptions {
  readonly task: string;
  /** The id of the task: a task with a known id is not done twice. */
  readonly id: string | undefined;
  /** Whether requests for approval are approved; otherwise they are denied. */
  readonly yes: boolean;
}

const NOBODY = 'No person is available to approve this. Do what you can without it.';

/** Runs a task. Decides questions and requests for approval at once, because no person is there. */
export async function printed(
  world: AgentWorld,
  session: Session<string>,
  options: PrintOptions,
): Promise<Outcome<string>> {
  const done = new AbortController();
  const deciding = decideAll(world, session, options.yes, done.signal);
  try {
    const run = await session.send(options.task, options.id === undefined ? {} : { id: options.id });
    const paint = paintFor(false);
    for await (const event of run.events()) {
      if (event.type === 'tool.requested') console.error(`● ${callLine(event.tool, event.args)}`);
      if (event.type === 'tool.failed') for (const line of failureLines(event, paint)) console.error(`  ${line}`);
      if (event.type === 'llm_step.failed') console.error(`the model failed: ${event.code}`);
    }
    const outcome = await run.result();
    if (outcome.text !== '') console.log(plain(outcome.text));
    return outcome;
  } finally {
    done.abort();
    await deciding;
  }
}

/** Decides all pending items of the session, including those of earlier runs. */
async function decideAll(
  world: AgentWorld,
  { key }: Session<string>,
  yes: boolean,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of world.events({ signal })) {
    if (event.type !== 'human.requested' || event.session_id !== key) continue;
    const item = (await world.pending({ session: key })).find(({ id }) => id === event.id);
    if (item === undefined) continue;
    if (item.kind === 'approval') await world.decide(item, yes ? { approve: true } : { deny: NOBODY });
    else await world.answer(item, item.question?.options?.[0]?.id ?? NOBODY);
  }
}
