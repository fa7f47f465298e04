/** The model of simulated worlds: it speaks a real protocol, and a subject draws what it says. */
import { type ModelClient, openAiCompatible } from '@reprise/providers';

/** A client of a model that answers each request, as the protocol writes it, with a response. */
export function chatModel(answer: (body: string) => Response): ModelClient {
  return openAiCompatible({
    baseUrl: 'http://model.test/v1',
    model: 'm',
    fetch: async (_url, init) => answer(await new Response(init?.body ?? null).text()),
    sleep: async () => undefined,
  });
}

/** The response in which a model says a message. */
export function said(message: object): Response {
  const finish_reason = 'tool_calls' in message ? 'tool_calls' : 'stop';
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason };
  return new Response(
    JSON.stringify({ id: 'r', choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 2 } }),
    { headers: { 'content-type': 'application/json' } },
  );
}
