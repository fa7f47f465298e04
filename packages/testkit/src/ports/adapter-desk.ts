/**
 * The context that a suite passes to an adapter, with a record of what the adapter produced: answers, progress,
 *
 * One desk stands for one world as the adapter sees it: with its own content and secrets.
 */
import {
  type AdapterContext,
  type AdapterOutcome,
  type ContentStore,
  type Deferred,
  decode,
  encode,
  memory,
  portableSha256,
  toHex,
} from '@reprise/kernel';
import { show } from '../given/compare.js';
import { expectThat } from '../suite/expect.js';
import { type AnyAdapterSubject, type ParamsSource, paramsFrom } from './adapter-subject.js';

/** The parts of one execution. By default: a fresh key, the first attempt, and a signal that is never aborted. */
interface Asked {
  readonly key?: string;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
}

/** An execution that has ended with an answer. */
export interface Executed {
  readonly key: string;
  readonly params: unknown;
  readonly outcome: AdapterOutcome | Deferred;
}

/** The secret of subjects without one. It fits a header, and every usual encoding changes it. */
const SECRET = 'tk/9f+8e=7d?6c&5b~4a-3928 z';

let keys = 0;

/** A key that no other execution of this process has. */
export function freshKey(): string {
  return toHex(portableSha256(encode(['testAdapter', keys++])));
}

/** The context of an adapter under test. Made by {@link deskFor}. */
export class Desk {
  /** The progress and the questions of the adapter. */
  readonly said: unknown[] = [];
  /** Every blob that the adapter stored. */
  readonly put: Uint8Array[] = [];
  /** The secrets that the adapter requested, by name. */
  readonly secrets = new Map<string, string>();
  readonly content: ContentStore;

  constructor(
    readonly subject: AnyAdapterSubject,
    store: ContentStore,
  ) {
    this.content = {
      ...store,
      put: (bytes) => {
        this.put.push(bytes.slice());
        return store.put(bytes);
      },
      putStream: (pieces) => store.putStream(this.#noting(pieces)),
    };
  }

  /** The n-th parameters of the subject, or of another source. */
  params(n: number, source: ParamsSource<unknown> = this.subject.params): Promise<unknown> {
    return paramsFrom(source, this.content, n);
  }

  /** Executes parameters once; the adapter gets its own copy, as from a dispatcher. */
  async execute(params: unknown, asked: Asked = {}): Promise<Executed> {
    const context = this.context(asked);
    const outcome: AdapterOutcome | Deferred = await this.subject.adapter.doExecute(decode(encode(params)), context);
    expectThat(typeof outcome === 'object' && outcome !== null, `${show(params)} led to the answer ${show(outcome)}`);
    return { key: context.idempotencyKey, params, outcome };
  }

  /** The context that the adapter gets. */
  context({ key = freshKey(), attempt = 1, signal = new AbortController().signal }: Asked): AdapterContext {
    return {
      idempotencyKey: key,
      attempt,
      deadline: null,
      signal,
      content: this.content,
      progress: (note) => void this.said.push(note),
      rights: this.subject.context?.rights ?? (async () => ({ may: {} })),
      ask: async (question) => {
        this.said.push(question.question);
        return this.subject.context?.ask?.(question) ?? { how: 'expired' };
      },
      secret: async (name) => {
        const secret = this.subject.secret?.(name) ?? SECRET;
        this.secrets.set(name, secret);
        return secret;
      },
    };
  }

  async *#noting(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const noted: number[] = [];
    for await (const piece of pieces) {
      noted.push(...piece);
      yield piece;
    }
    this.put.push(Uint8Array.from(noted));
  }
}

/** A desk with an empty store in memory. */
export async function deskFor(subject: AnyAdapterSubject): Promise<Desk> {
  return new Desk(subject, (await memory().open()).content);
}
