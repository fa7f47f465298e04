/** Makes what a handler is given from what the adapter is told, and collects what it makes. */
import { type Ref, RepriseError, startOfText, type Value } from '@reprise/contracts';
import type { AdapterContext, ContentStore, KeptStream } from '@reprise/kernel';
import { type Artifact, artifact, type FileChange, fileChange, type ToolCallParams } from '../contracts/tool-call.js';
import type { Answer, NewFile, Question, ToolContext, WorldReader } from './context.js';
import { durationMs } from './duration.js';
import { check, jsonSchemaOf, type OutputOf, type Schema } from './schema.js';

/** How often an answer that does not fit is asked for again. */
const ANSWERS_MAX = 5;

const NEVER = new AbortController().signal;

const NO_WORLD: WorldReader = {
  sessions: () => unbound(),
  pending: () => unbound(),
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
  /** Why something of it could not be kept, whatever its handler made of that; the last reason. */
  readonly unkept?: { readonly error: unknown };
}

/** Notes what could not be kept. */
type Keep = <T>(body: () => Promise<T>) => Promise<T>;

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
  const made: { -readonly [Name in keyof Made]: Made[Name] } = { artifacts: [], changes: [] };
  const noting = (error: unknown): never => {
    made.unkept = { error };
    throw error;
  };
  const keep: Keep = (body) => body().catch(noting);
  const content = new KeptContent(context.content, keep);
  const given: ToolContext = {
    deps,
    session: params.session,
    signal: context.signal,
    idempotencyKey: context.idempotencyKey,
    attempt: context.attempt,
    closing: options.closing ?? NEVER,
    world: options.world ?? NO_WORLD,
    deadline: context.deadline,
    content,
    progress: (note) => context.progress(note),
    secret: (name) => context.secret(name),
    ...(context.scrubber === undefined ? {} : { scrubber: context.scrubber }),
    report: (error) => context.report?.(error),
    ask: (question) => ask(question, context, options.now),
    put: async (file) => {
      const put = await putFile(file, content);
      return keep(async () => collected(made.artifacts, artifact.parse(put), 64, 'artifacts'));
    },
    changed: (path, before, after) => {
      try {
        return collected(made.changes, changeOf(path, before, after, context), 64, 'changes');
      } catch (error) {
        return noting(error);
      }
    },
  };
  // The types of `deps` meet where tools are listed and the world is opened; here they are closed over.
  return { context: given as ToolContext<never>, made };
}

function changeOf(path: string, before: Ref | null, after: Ref | null, context: AdapterContext): FileChange {
  const isScrubbed = (ref: Ref | null): boolean => ref !== null && context.wasScrubbed?.(ref) === true;
  return fileChange.parse({
    path,
    before_ref: before,
    after_ref: after,
    ...(isScrubbed(before) ? { before_scrubbed: true } : {}),
    ...(isScrubbed(after) ? { after_scrubbed: true } : {}),
  });
}

/** The content store as a handler is given it: what cannot be kept is noted. A source that fails is the handler's own. */
class KeptContent implements ContentStore {
  constructor(
    private readonly content: ContentStore,
    private readonly keep: Keep,
  ) {}

  get(ref: Ref): Promise<Uint8Array | undefined> {
    return this.content.get(ref);
  }

  has(ref: Ref): Promise<boolean> {
    return this.content.has(ref);
  }

  erasedBy(ref: Ref): Promise<number | undefined> {
    return this.content.erasedBy(ref);
  }

  erasedThrough(): Promise<number> {
    return this.content.erasedThrough();
  }

  list(): AsyncIterable<Ref> {
    return this.content.list();
  }

  put(bytes: Uint8Array): Promise<Ref> {
    return this.keep(() => this.content.put(bytes));
  }

  async putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    let broken = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces;
      } catch (error) {
        broken = true;
        throw error;
      }
    }
    try {
      return await this.content.putStream(source());
    } catch (error) {
      if (broken) throw error;
      return this.keep(() => Promise.reject(error));
    }
  }
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
