/** A provider over HTTP that keeps the raw body of each request, answers as it is told, and can be made to wait. */

/** The words of every item: a text that stands nowhere else. */
export const CANARY = /canary-\d+-end/g;

/** The words of items in a text. */
export function canariesIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(CANARY)].map(([canary]) => canary));
}

/** An answer of the model: words, or the call of one tool. */
export type ModelAnswer = { readonly says: string } | { readonly calls: string; readonly args: object };

/** The provider: it answers each request with one word, unless it was given something else to answer. */
export class Provider {
  /** The raw bodies of all requests. */
  readonly bodies: string[] = [];
  /** What the next requests are answered with. */
  readonly answers: ModelAnswer[] = [];
  #gate: Promise<void> | undefined;
  #open: () => void = () => undefined;

  /** Has the requests from now on wait. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  release(): void {
    this.#gate = undefined;
    this.#open();
  }

  readonly fetch = async (_url: unknown, { body }: { readonly body: string | Uint8Array }): Promise<Response> => {
    const answer = this.answers.shift() ?? { says: 'Done.' };
    this.bodies.push(typeof body === 'string' ? body : new TextDecoder().decode(body));
    await this.#gate;
    const text = [...chunksOf(answer, this.bodies.length).map((chunk) => JSON.stringify(chunk)), '[DONE]']
      .map((line) => `data: ${line}\n\n`)
      .join('');
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  };
}

function chunksOf(answer: ModelAnswer, n: number): readonly object[] {
  const chunk = (delta: object, finish_reason: string | null) => ({ choices: [{ index: 0, delta, finish_reason }] });
  if ('says' in answer) return [chunk({ role: 'assistant', content: answer.says }, null), chunk({}, 'stop')];
  const call = {
    ...{ index: 0, id: `call-${n}`, type: 'function' },
    function: { name: answer.calls, arguments: JSON.stringify(answer.args) },
  };
  return [chunk({ role: 'assistant', tool_calls: [call] }, null), chunk({}, 'tool_calls')];
}
