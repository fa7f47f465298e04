/** A model whose calls wait until a schedule answers them. */
import { type ScriptedModel, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';

/** A call of a model that waits for its answer. */
export interface HeldCall {
  /** The node that it is for. */
  readonly n: number;
  readonly last: string;
  readonly tools: readonly string[];
  say(step: ScriptStep): void;
}

type Model = Omit<ScriptedModel, 'done'>;

/** The calls that wait. Those of a process that died wait no more. */
export class Hands {
  readonly #held = new Set<HeldCall>();

  /** The calls that wait, by their nodes. */
  get held(): readonly HeldCall[] {
    return [...this.#held].sort((a, b) => a.n - b.n);
  }

  /** The process is gone. */
  forget(): void {
    this.#held.clear();
  }

  /** The model of one process. */
  model(options: Parameters<typeof scriptBy>[1]): Model {
    const plain = scriptBy(() => ({}), options);
    return {
      ...plain,
      generate: async (request, context) => {
        // A request as scripts read it.
        let read: ScriptRequest | undefined;
        await scriptBy((one) => {
          read = one;
          return {};
        }, options).generate(request, { ...context, progress: () => undefined });
        const step = await this.#answer(read, context.signal);
        return scriptBy(() => step, options).generate(request, context);
      },
    };
  }

  #answer(request: ScriptRequest | undefined, signal: AbortSignal): Promise<ScriptStep> {
    const { messages = [], tools = [], last = '' } = request ?? {};
    const prompts = messages.flatMap(({ text }) => /^You are node #(\d+)/.exec(text)?.[1] ?? []);
    return new Promise((resolve) => {
      const over = (step: ScriptStep): void => {
        this.#held.delete(call);
        signal.removeEventListener('abort', stop);
        resolve(step);
      };
      const stop = (): void => over({ text: '', delayMs: Number.POSITIVE_INFINITY });
      const call: HeldCall = { n: Number(prompts.at(-1)), last, tools, say: over };
      this.#held.add(call);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
    });
  }
}
