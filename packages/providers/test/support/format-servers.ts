/** Clients of the formats over HTTP, on a `fetch` that answers each request as its provider would. */
import { anthropicMessages, type ModelClient, openAiCompatible, openAiResponses } from '../../src/index.js';
import { IMAGES_AND_PDF } from '../../src/model/sendable.js';

/** What a server answers: a text, a call of a tool without arguments, or a refusal in the form of its provider. */
export type Reply =
  | { readonly text: string }
  | { readonly call: string }
  | { readonly refuse: string; readonly param?: string; readonly code?: string };

/** Decides the answer to a request, by its body. */
export type Replying = (body: unknown) => Reply;

type Options = Pick<Parameters<typeof openAiResponses>[1] & object, 'fetch' | 'retry' | 'profile'>;

interface Format {
  readonly make: (options: Options) => ModelClient;
  readonly answer: (reply: Reply) => unknown;
}

const BASE = { baseUrl: 'http://models.example/v1' };

/** The formats by name. */
export const FORMATS = {
  'openai-chat': {
    make: (options) => openAiCompatible({ ...BASE, model: 'm', ...options }),
    answer: (reply) => {
      if ('refuse' in reply)
        return refusal(reply, { type: 'invalid_request_error', code: reply.code ?? 'invalid_image_format' });
      const calls = [
        { id: 'c1', type: 'function', function: { name: 'call' in reply ? reply.call : '', arguments: '{}' } },
      ];
      const message = 'text' in reply ? { content: reply.text } : { content: null, tool_calls: calls };
      const finish_reason = 'text' in reply ? 'stop' : 'tool_calls';
      return { id: 'x', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] };
    },
  },
  'openai-responses': {
    make: (options) => openAiResponses('m', { ...BASE, ...options }),
    answer: (reply) => {
      if ('refuse' in reply)
        return refusal(reply, { type: 'invalid_request_error', code: reply.code ?? 'image_parse_error' });
      const output =
        'text' in reply
          ? {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: reply.text, annotations: [] }],
            }
          : { type: 'function_call', call_id: 'c1', name: reply.call, arguments: '{}' };
      return { id: 'r', object: 'response', status: 'completed', output: [output] };
    },
  },
  'anthropic-messages': {
    make: (options) => anthropicMessages('m', { ...BASE, ...options }),
    answer: (reply) => {
      if ('refuse' in reply) {
        const message = [reply.param, reply.refuse].filter((text) => text !== undefined).join(': ');
        return { type: 'error', error: { type: 'invalid_request_error', message } };
      }
      const content =
        'text' in reply
          ? { type: 'text', text: reply.text }
          : { type: 'tool_use', id: 'c1', name: reply.call, input: {} };
      const stop_reason = 'text' in reply ? 'end_turn' : 'tool_use';
      return { id: 'm', type: 'message', role: 'assistant', content: [content], stop_reason };
    },
  },
} as const satisfies Record<string, Format>;

function refusal({ refuse: message, param }: { readonly refuse: string; readonly param?: string }, fields: object) {
  return { error: { message, param: param ?? null, ...fields } };
}

/** The name of a format over HTTP. */
export type FormatName = keyof typeof FORMATS;

/** A client of a format whose requests are recorded. */
export function formatClient(
  name: FormatName,
  reply: Replying,
): { readonly client: ModelClient; readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const { make, answer }: Format = FORMATS[name];
  const fetch = async (_url: unknown, init?: RequestInit) => {
    const body: unknown = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array));
    sent.push(body);
    const given = reply(body);
    return Response.json(answer(given), { status: 'refuse' in given ? 400 : 200 });
  };
  const profile = { supports_streaming: false, media_types: IMAGES_AND_PDF };
  return { client: make({ fetch, profile, retry: { retriesMax: 0 } }), sent };
}

/** The images and documents of a body in any format, found by their form alone. */
export function mediaIn(body: unknown): { readonly type: string; readonly bytes: Uint8Array }[] {
  if (typeof body === 'string') {
    const [, type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(body) ?? [];
    return type === undefined || data === undefined ? [] : [{ type, bytes: Buffer.from(data, 'base64') }];
  }
  if (typeof body !== 'object' || body === null) return [];
  const { media_type, data } = body as { media_type?: unknown; data?: unknown };
  if (typeof media_type === 'string' && typeof data === 'string')
    return [{ type: media_type, bytes: Buffer.from(data, 'base64') }];
  return Object.values(body).flatMap(mediaIn);
}
