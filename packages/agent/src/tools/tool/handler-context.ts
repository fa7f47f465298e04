/** Makes a handler's context from the adapter's context, and collects what the handler stores. */
import {
  present,
  type Ref,
  RepriseError,
  type SessionInfo,
  shortText,
  startOfText,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import type { AdapterContext, ContentStore, KeptStream } from '@reprise/kernel';
import { ContentLayer } from '@reprise/kernel/store';
import { durationMs } from '../../contracts/duration.js';
import {
  type Artifact,
  artifact,
  type FileChange,
  fileChange,
  type ToolCallParams,
} from '../../contracts/tool-call.js';
import { contentType, SNIFF_BYTES, typeFields } from '../output/media-type.js';
import { check, jsonSchemaOf, type OutputOf, type Schema } from '../schema/schema.js';
import type { Answer, NewFile, OwnerAnswered, Question, ToolContext, WorldReader } from './context.js';
import type { Tool } from './tool.js';

/** How often an answer that does not fit is requested again. */
const ANSWERS_MAX = 5;

/** How many warnings a receipt has, and the longest one. */
const WARNINGS_MAX = 16;
const WARNING_LENGTH_MAX = 240;

const NEVER = new AbortController().signal;

const NO_WORLD: WorldReader = {
  sessions: () => unbound(),
  pending: () => unbound(),
  usage: () => unbound(),
  transcript: () => unbound(),
};

const noOwner: OwnerCaller = () => unbound();

async function unbound(): Promise<never> {
  throw new RepriseError('invalid_argument', 'the tool adapter has no world to read', {
    hint: 'Give `world` to the tool adapter.',
  });
}

/** The files and changes of a call, besides its answer. */
export interface Made {
  readonly artifacts: Artifact[];
  readonly changes: FileChange[];
  /** Where the answer departs from what came. */
  readonly warnings: Set<string>;
  /** The last reason why a file or change could not be stored, whether or not the handler caught the error. */
  readonly unkept?: { readonly error: unknown };
}

/** Records that content could not be stored. */
type Keep = <T>(body: () => Promise<T>) => Promise<T>;

/** The parts that the handlers of a world share. */
export interface HandlerOptions {
  /** The journal's time in milliseconds: the clock of the world. */
  readonly now: () => number;
  /** Aborted when the world closes. */
  readonly closing?: AbortSignal;
  /** Reads the world for tools; without it they cannot read the world. */
  readonly world?: WorldReader;
  /** Calls the owner of a session; without it handlers cannot. */
  readonly owner?: OwnerCaller;
}

/** Passes the call of a handler to the owner of its session. */
export type OwnerCaller = (call: {
  readonly session: SessionInfo;
  /** The effect of the handler, for which its adapter acts. */
  readonly effect: string;
  readonly call_id: string;
  readonly name: string;
  readonly args: Value;
  /** The tool that was offered. */
  readonly tool?: Tool;
  readonly withinMs: number | undefined;
  readonly signal: AbortSignal;
}) => Promise<OwnerAnswered | 'pending'>;

/** A handler's context, and the files and changes that it collects. */
export function handlerContext(
  params: ToolCallParams,
  context: AdapterContext,
  deps: unknown,
  options: HandlerOptions,
): { readonly context: ToolContext<never>; readonly made: Made } {
  const made: { -readonly [Name in keyof Made]: Made[Name] } = { artifacts: [], changes: [], warnings: new Set() };
  const noting = (error: unknown): never => {
    made.unkept = { error };
    throw error;
  };
  const keep: Keep = (body) => body().catch(noting);
  const content = new KeptContent(context.content, keep);
  let ownerCalls = 0;
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
    warn: (what) => {
      const whole = context.scrubber?.scrub(what) ?? what; // before it is cut: half of a secret is not recognized
      if (made.warnings.size < WARNINGS_MAX) made.warnings.add(shortText(wellFormed(whole), WARNING_LENGTH_MAX));
    },
    ask: (question) => ask(question, context, options.now),
    owner: (name, args, { id, within, tool } = {}) => {
      const call_id = id ?? `${context.attempt}.${++ownerCalls}`;
      const { idempotencyKey: effect, signal } = context;
      const withinMs = within === undefined ? undefined : durationMs(within, 'within');
      const call = { session: params.session, effect, call_id, name, args, withinMs, signal };
      return (options.owner ?? noOwner)(tool === undefined ? call : { ...call, tool });
    },
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
  // The types of `deps` are checked where tools are listed and the world is opened; here they are erased.
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

/**
 * The content store for a handler. It records content that could not be stored; a failing source is the handler's own
 * error.
 */
class KeptContent extends ContentLayer {
  constructor(
    content: ContentStore,
    private readonly keep: Keep,
  ) {
    super(content);
  }

  override put(bytes: Uint8Array): Promise<Ref> {
    return this.keep(() => super.put(bytes));
  }

  override async putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
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
      return await super.putStream(source());
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

/** Stores a file under the type that its content has. */
async function putFile({ path, bytes, mediaType }: NewFile, content: ContentStore): Promise<Artifact> {
  if (bytes instanceof Uint8Array) {
    const typed = typeFields(contentType(bytes.subarray(0, SNIFF_BYTES), mediaType));
    return { path, ...typed, blob_ref: await content.put(bytes), bytes: bytes.length };
  }
  const start = new FirstBytes();
  const kept = await content.putStream(start.of(bytes));
  return { path, ...typeFields(contentType(start.bytes, mediaType)), blob_ref: kept.ref, bytes: kept.bytes };
}

/** Looks at the first bytes of a stream that passes. */
class FirstBytes {
  bytes: Uint8Array = new Uint8Array(0);

  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      const more = piece.subarray(0, SNIFF_BYTES - this.bytes.length);
      if (more.length > 0) {
        const joined = new Uint8Array(this.bytes.length + more.length);
        joined.set(this.bytes);
        joined.set(more, this.bytes.length);
        this.bytes = joined;
      }
      yield piece;
    }
  }
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
  throw new RepriseError('invalid_argument', 'no answer fits the schema of the question', {
    where: startOfText(asked.question, 200),
    expected: `an answer that fits, within ${ANSWERS_MAX} attempts`,
    actual: problems,
  });
}

/** The question as the answering person is shown it. */
function questionValue({ question, options, answer }: Question, problems: string | undefined): Value {
  return present({
    question,
    options: options?.map(({ id, label }) => ({ id, label })),
    answer: answer && jsonSchemaOf(answer, 'question'),
    problems,
  });
}
