/** Makes what a handler is given from what the adapter is told, and collects what it makes. */
import { RepriseError, startOfText, type Value } from '@reprise/contracts';
import type { AdapterContext, ContentStore } from '@reprise/kernel';
import { type Artifact, artifact, type FileChange, fileChange, type ToolCallParams } from '../contracts/tool-call.js';
import type { Answer, NewFile, Question, ToolContext, WorldReader } from './context.js';
import { durationMs } from './duration.js';
import { check, jsonSchemaOf, type OutputOf, type Schema } from './schema.js';

/** How often an answer that does not fit is asked for again. */
const ANSWERS_MAX = 5;

const NEVER = new AbortController().signal;

const NO_WORLD: WorldReader = {
  sessions: () => unbound(),
  open: () => unbound(),
  usage: () => unbound(),
  transcript: () => unbound(),
};

async function unbound(): Promise<never> {
  throw new RepriseError('invalid_argument', 'nothing can be looked up about this world', {
    hint: 'Give `world` to the tool adapter.',
  });
}

/** What a call made beside its answer. */
export interface Made {
  readonly artifacts: Artifact[];
  readonly changes: FileChange[];
}

/** What the handlers of a world have in common. */
export interface HandlerOptions {
  /** The journal's time in milliseconds: the clock of the world. */
  readonly now: () => number;
  /** Aborted when the world closes. */
  readonly closing?: AbortSignal;
  /** Answers what tools look up about the world; nothing can be looked up when absent. */
  readonly world?: WorldReader;
}

/** What a handler is given, and what it makes. */
export function handlerContext(
  params: ToolCallParams,
  context: AdapterContext,
  deps: unknown,
  options: HandlerOptions,
): { readonly context: ToolContext<never>; readonly made: Made } {
  const made: Made = { artifacts: [], changes: [] };
  const given: ToolContext = {
    deps,
    session: params.session,
    signal: context.signal,
    idempotencyKey: context.idempotencyKey,
    attempt: context.attempt,
    closing: options.closing ?? NEVER,
    world: options.world ?? NO_WORLD,
    deadline: context.deadline,
    content: context.content,
    progress: (note) => context.progress(note),
    secret: (name) => context.secret(name),
    ...(context.scrubber === undefined ? {} : { scrubber: context.scrubber }),
    report: (error) => context.report?.(error),
    ask: (question) => ask(question, context, options.now),
    put: async (file) =>
      collected(made.artifacts, artifact.parse(await putFile(file, context.content)), 64, 'artifacts'),
    changed: (path, before, after) =>
      collected(made.changes, fileChange.parse({ path, before_ref: before, after_ref: after }), 64, 'changes'),
  };
  // The types of `deps` meet where tools are listed and the world is opened; here they are closed over.
  return { context: given as ToolContext<never>, made };
}

function collected<T>(into: T[], thing: T, max: number, what: string): T {
  if (into.length >= max) {
    throw new RepriseError('bound_exceeded', `a call has too many ${what}`, {
      expected: `at most ${max}`,
      hint: 'Put them into one archive, or one list that you put as content.',
    });
  }
  into.push(thing);
  return thing;
}

async function putFile({ path, bytes, mediaType }: NewFile, content: ContentStore): Promise<Artifact> {
  const named = { path, media_type: mediaType ?? 'application/octet-stream' };
  if (bytes instanceof Uint8Array) return { ...named, blob_ref: await content.put(bytes), bytes: bytes.length };
  const kept = await content.putStream(bytes);
  return { ...named, blob_ref: kept.ref, bytes: kept.bytes };
}

async function ask<S extends Schema>(
  asked: Question<S>,
  context: AdapterContext,
  now: () => number,
): Promise<Answer<OutputOf<S>>> {
  const expires = asked.within === undefined ? undefined : now() + durationMs(asked.within, 'within');
  const terms = {
    ...(asked.to === undefined ? {} : { to: asked.to }),
    ...(expires === undefined ? {} : { expires }),
  };
  let problems: string | undefined;
  for (let round = 0; round < ANSWERS_MAX; round++) {
    const answer = await context.ask({ question: questionValue(asked, problems), ...terms });
    if (answer.how === 'cancelled') return answer;
    if (answer.how === 'expired') {
      return asked.default === undefined ? answer : { how: 'default', value: asked.default };
    }
    if (asked.answer === undefined) return { ...answer, value: answer.value as OutputOf<S> };
    const fits = await check(asked.answer, answer.value);
    if (fits.ok) return { ...answer, value: fits.value as OutputOf<S> };
    problems = fits.problems;
  }
  throw new RepriseError('invalid_argument', 'no answer fits what was asked for', {
    where: startOfText(asked.question, 200),
    expected: `one of ${ANSWERS_MAX} answers that fits`,
    actual: problems,
  });
}

/** What whoever answers is shown. */
function questionValue({ question, options, answer }: Question, problems: string | undefined): Value {
  return {
    question,
    ...(options === undefined ? {} : { options: options.map(({ id, label }) => ({ id, label })) }),
    ...(answer === undefined ? {} : { answer: jsonSchemaOf(answer, 'question') }),
    ...(problems === undefined ? {} : { problems }),
  };
}
