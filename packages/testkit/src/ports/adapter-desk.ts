/**
 * What an adapter is told while a suite executes it, and everything that it gave: answers, notes, content.
 *
 * One desk is one world as the adapter sees it: content and secrets of its own.
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
import { type AnyAdapterSubject, type ParamsSource, paramsFrom } from './adapter-subject.js';
import { expectThat } from './expect.js';

/** One execution as it is asked for. What is absent: a key of its own, the first attempt, a signal that stays still. */
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

/** Stands where a subject gives no secret. Fit for a header, and changed by every usual way of writing it down. */
const SECRET = 'tk/9f+8e=7d?6c&5b~4a-3928 z';

let keys = 0;

/** A key that no other execution of this process has. */
export function freshKey(): string {
  return toHex(portableSha256(encode(['testAdapter', keys++])));
}

/** A desk of an adapter. Made by {@link deskFor}. */
export class Desk {
  /** What it was heard to say meanwhile: progress and questions. */
  readonly said: unknown[] = [];
  /** Every blob that it put. */
  readonly put: Uint8Array[] = [];
  /** The secrets that it asked for, by name. */
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

  /** Executes parameters once; they are the adapter's own copy, as a dispatcher gives them. */
  async execute(params: unknown, asked: Asked = {}): Promise<Executed> {
    const context = this.context(asked);
    const outcome: AdapterOutcome | Deferred = await this.subject.adapter.doExecute(decode(encode(params)), context);
    expectThat(typeof outcome === 'object' && outcome !== null, `${show(params)} was answered ${show(outcome)}`);
    return { key: context.idempotencyKey, params, outcome };
  }

  /** What the adapter is told. */
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

/** A desk with nothing on it. */
export async function deskFor(subject: AnyAdapterSubject): Promise<Desk> {
  return new Desk(subject, (await memory().open()).content);
}
