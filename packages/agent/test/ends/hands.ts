/** A model and tools that answer when a test says so, or are told to stop. */
import type { LlmGenerateParams, LlmGenerateReceipt, Value } from '@reprise/contracts';
import { type Adapter, type AdapterContext, type AdapterOutcome, putValue } from '@reprise/kernel';
import { type Judge, llmGenerate, putText } from '../../src/index.js';

/** What a model says: a text, or calls of tools by their names. */
export interface Saying {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly args: Value }[];
}

/** Something that is under way, and ends when a test says so. */
interface Pending {
  end(): void;
}

/** What is under way in a process. */
export class UnderWay {
  readonly #pending = new Set<Pending>();

  /** How many are under way. */
  get size(): number {
    return this.#pending.size;
  }

  /** Ends one of them. */
  end(which: number): void {
    const all = [...this.#pending];
    all[which % Math.max(1, all.length)]?.end();
  }

  /** Ends all: the process is gone. */
  endAll(): void {
    for (const one of [...this.#pending]) one.end();
  }

  /** Waits until it is ended. @returns false when it was told to stop first */
  wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (done: boolean): void => {
        this.#pending.delete(pending);
        signal.removeEventListener('abort', stop);
        resolve(done);
      };
      const stop = (): void => settle(false);
      const pending: Pending = { end: () => settle(true) };
      this.#pending.add(pending);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
    });
  }
}

/** A model whose answers are drawn, and come when a test says so. */
export class HandLlm implements Adapter<LlmGenerateParams, LlmGenerateReceipt> {
  readonly effect = llmGenerate;
  readonly name = 'hand';
  #asked = 0;

  constructor(
    private readonly judge: Judge,
    private readonly under: UnderWay,
    private readonly next: () => Saying | 'fails',
  ) {}

  async doExecute(params: LlmGenerateParams, context: AdapterContext): Promise<AdapterOutcome<LlmGenerateReceipt>> {
    const saying = this.next();
    if (!(await this.under.wait(context.signal))) return { status: 'cancelled' };
    if (saying === 'fails') return { status: 'error', code: 'provider_error_terminal', retryable: false };
    return this.#answer(saying, params, context);
  }

  async #answer(
    { text, calls = [] }: Saying,
    params: LlmGenerateParams,
    { content, signal, idempotencyKey }: AdapterContext,
  ): Promise<AdapterOutcome<LlmGenerateReceipt>> {
    const number = this.#asked++;
    const asked = calls.map(({ tool, args }, i) => ({
      callId: `${idempotencyKey.slice(0, 8)}-${number}-${i}`,
      tool,
      args,
    }));
    const judging = { params, content, signal };
    const tool_calls = await this.judge.calls(asked, judging);
    const texts = params.context === undefined ? await this.judge.context(judging) : [];
    const output = {
      ...(text === undefined ? {} : { text }),
      tool_calls: asked.map(({ callId, tool, args }) => ({ call_id: callId, tool, args })),
    };
    return {
      status: 'ok',
      asked: { profile: 'hand', model: 'hand' },
      usage: { tokens_in: 10, tokens_out: 1, calls: 1 },
      payload: {
        output_ref: await putValue(content, output),
        raw_output_ref: await putText(content, 'raw'),
        request_digest: '0'.repeat(64),
        request_bytes: 100,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        tool_calls: [...tool_calls],
        ...(texts.length === 0 ? {} : { context: [...texts] }),
      },
    };
  }
}
