/** What models used since a stream began. Events tell the sums of each run. */
import type { AgentEvent } from '@reprise/agent';
import type { TokenUsage } from './events.js';

/** The usage of a stream, by the names of models. */
export class Usage {
  /** The sums so far, by run. */
  readonly #sums = new Map<string, { readonly in: number; readonly out: number }>();
  readonly #models = new Map<string, string>();
  readonly #used = new Map<string, TokenUsage>();

  take(event: AgentEvent): void {
    if (event.type === 'llm_step.requested') this.#models.set(event.session_id, event.model);
    if (event.type !== 'llm_step.completed') return;
    const { session_id, run_id, tally } = event;
    const run = run_id ?? session_id;
    const before = this.#sums.get(run) ?? { in: 0, out: 0 };
    this.#sums.set(run, { in: tally.tokens_in, out: tally.tokens_out });
    this.#add(this.#models.get(session_id) ?? 'unknown', tally.tokens_in - before.in, tally.tokens_out - before.out);
  }

  /** Forgets what was used before a stream began. */
  begin(): void {
    this.#used.clear();
  }

  /** What each model used; none when no model answered. */
  get used(): readonly TokenUsage[] {
    return [...this.#used.values()];
  }

  #add(model: string, tokensIn: number, tokensOut: number): void {
    const { inputTokens = 0, outputTokens = 0 } = this.#used.get(model) ?? {};
    const sum = { inputTokens: inputTokens + tokensIn, outputTokens: outputTokens + tokensOut };
    this.#used.set(model, { model, ...sum, totalTokens: sum.inputTokens + sum.outputTokens });
  }
}
