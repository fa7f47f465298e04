/** A world whose model is a provider over HTTP that keeps the raw body of each request, and can be made to wait. */
import { type AnyAgent, defineAgent, memory, openWorld } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { VirtualClock } from 'reprise/testing';
import { failingSociety } from '../failing.js';

/** The words of every item: a text that stands nowhere else. */
export const CANARY = /canary-\d+-end/g;

/** How often each canary stands in a text. */
export function canariesIn(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [canary] of text.matchAll(CANARY)) found.set(canary, (found.get(canary) ?? 0) + 1);
  return found;
}

/** The provider: it answers each request with one word. */
export class Provider {
  /** The raw bodies of all requests. */
  readonly bodies: string[] = [];
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
    this.bodies.push(typeof body === 'string' ? body : new TextDecoder().decode(body));
    await this.#gate;
    const events = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Done.' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ];
    const text = [...events.map((event) => JSON.stringify(event)), '[DONE]']
      .map((line) => `data: ${line}\n\n`)
      .join('');
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** Opens a world with groups of these cultures. */
export async function openScene(cultures: Readonly<Record<string, 'chatty' | 'moderate' | 'taciturn'>>) {
  const provider = new Provider();
  const clock = new VirtualClock();
  const part = failingSociety();
  const fetch = provider.fetch as unknown as typeof globalThis.fetch;
  const main = openAiCompatible({ model: 'm', baseUrl: 'http://provider.test/v1', retry: { retriesMax: 0 }, fetch });
  const worker: AnyAgent = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
  const world = await openWorld({ store: memory(), clock, models: { main }, agents: [worker], parts: [part] });
  const office = world.part(part);
  for (const [group, broadcast_eagerness] of Object.entries(cultures))
    await office.group(group).open({ culture: { broadcast_eagerness } });
  return { world, office, clock, provider, worker };
}

/** An opened world. */
export type Scene = Awaited<ReturnType<typeof openScene>>;
