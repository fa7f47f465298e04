/**
 * The reference page of the providers, made by asking the writers and readers themselves: each row of a request is a
 * request that was written, each row of an answer one that was read and written back.
 */
import type { OpaquePart } from '@reprise/agent';
import type { ProviderProfile, UnifiedMessage, UnifiedRequest, WireFormat } from '@reprise/providers';
import { AI_SDK_FINISH, readGenerated } from '../../packages/providers/src/ai-sdk/call-answer.js';
import { MESSAGES_PROFILE } from '../../packages/providers/src/anthropic/anthropic-messages.js';
import { MESSAGES_FINISH, readMessage } from '../../packages/providers/src/anthropic/messages-response.js';
import { CHAT_FINISH, readCompletion } from '../../packages/providers/src/openai/chat-response.js';
import { CHAT_PROFILE } from '../../packages/providers/src/openai/openai-compatible.js';
import { RESPONSES_PROFILE } from '../../packages/providers/src/openai/openai-responses.js';
import { RESPONSES_INCOMPLETE, readResponse } from '../../packages/providers/src/openai/responses-response.js';
import { STATUS_BY_NAME, VERDICT_BY_STATUS, verdictOf } from '../../packages/providers/src/verdict.js';
import type { ReadAnswer } from '../../packages/providers/src/wire/answer.js';
import { draftRequest } from '../../packages/providers/src/wire/formats.js';
import { table } from './docs-table.js';

const COLUMNS: readonly WireFormat[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'ai-sdk'];

/** A model that can do everything, so that what is missing is missing in the format. */
const ABLE: ProviderProfile = {
  profile_id: 'p',
  provider: 'p',
  model_default: 'm',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: true,
  supports_streaming: true,
  supports_tool_choice_named: true,
  media_types: ['image/png'],
};

const add = { name: 'add', description: 'Adds.', schema: { type: 'object', properties: { a: {} } } };
const media = { kind: 'media' as const, mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]), name: 'x.png' };
const said: UnifiedMessage = { role: 'user', parts: [{ kind: 'text', text: 'Go' }] };
const asked: UnifiedMessage = { role: 'assistant', calls: [{ callId: 'c', tool: 'add', args: { a: 1 } }] };
const came = (over: object = {}): UnifiedMessage => ({
  role: 'tool',
  callId: 'c',
  text: 'done',
  isError: false,
  ...over,
});
const plain: UnifiedRequest = { system: '', messages: [said], tools: [] };
const withTools: UnifiedRequest = { ...plain, tools: [add] };
const called: UnifiedRequest = { ...withTools, messages: [said, asked, came()] };

/** What is asked for, beside what is asked for without it. */
const ASKED: readonly (readonly [what: string, base: UnifiedRequest, request: UnifiedRequest])[] = [
  ['the system text', plain, { ...plain, system: 'Be brief.' }],
  ['tools', plain, withTools],
  ['`toolChoice: "required"`', withTools, { ...withTools, toolChoice: 'required' }],
  ['`toolChoice: "add"`', withTools, { ...withTools, toolChoice: 'add' }],
  ['`maxTokens`', plain, { ...plain, maxTokens: 100 }],
  ['`temperature`', plain, { ...plain, temperature: 0.5 }],
  ['`reasoningEffort`', plain, { ...plain, reasoningEffort: 'low' }],
  ['`stop`', plain, { ...plain, stopSequences: ['END'] }],
  ['`metadata`', plain, { ...plain, metadata: { user_id: 'u' } }],
  ['`responseFormat`', plain, { ...plain, responseFormat: { type: 'json' } }],
  ['a native option `x`', plain, { ...plain, providerOptions: { x: { y: 1 } } }],
  ['a native option `model`', plain, { ...plain, providerOptions: { model: 'other' } }],
  [
    'an image that is said',
    plain,
    { ...plain, messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }, media] }] },
  ],
  ['a call of the history', { ...withTools, messages: [said] }, called],
  ['a result that is a failure', called, { ...called, messages: [said, asked, came({ isError: true })] }],
  ['an image that a tool made', called, { ...called, messages: [said, asked, came({ media: [media] })] }],
];

function written(format: WireFormat, request: UnifiedRequest) {
  const { body, warnings } = draftRequest(format, request, { model: 'm', profile: ABLE });
  return { body: JSON.parse(JSON.stringify(body)) as unknown, warnings };
}

/** Every leaf of a body with its path; lists are told without their numbers. */
function leavesOf(thing: unknown, path = ''): string[] {
  if (Array.isArray(thing)) return thing.flatMap((item) => leavesOf(item, `${path}[]`));
  if (typeof thing !== 'object' || thing === null) return [`${path}=${JSON.stringify(thing)}`];
  return Object.entries(thing).flatMap(([key, item]) => leavesOf(item, path === '' ? key : `${path}.${key}`));
}

/** Where what is new in a body stands: the longest paths that hold all of it, one for each field at the top. */
function placesOf(base: unknown, changed: unknown): string[] {
  const known = new Set(leavesOf(base));
  const fresh = leavesOf(changed)
    .filter((leaf) => !known.has(leaf))
    .map((leaf) => leaf.slice(0, leaf.indexOf('=')).split('.'));
  const tops = new Map<string, string[][]>();
  for (const path of fresh) {
    const top = (path[0] ?? '').replace(/(\[\])+$/, '');
    tops.set(top, [...(tops.get(top) ?? []), path]);
  }
  return [...tops.values()].map((paths) => commonOf(paths).join('.'));
}

function commonOf(paths: readonly (readonly string[])[]): string[] {
  const [first = []] = paths;
  const same = first.findIndex((step, i) => paths.some((path) => path[i] !== step));
  return first.slice(0, same === -1 ? first.length : Math.max(1, same));
}

function requestCell(format: WireFormat, base: UnifiedRequest, request: UnifiedRequest): string {
  const [before, after] = [written(format, base), written(format, request)];
  const places = placesOf(before.body, after.body).map((place) => `\`${place}\``);
  const told = after.warnings.filter((code) => !before.warnings.includes(code)).map((code) => `warns \`${code}\``);
  return [...places, ...new Set(told)].join(', ') || 'cannot be said';
}

/** An item of an answer that only its provider reads, and the whole answer around it. */
type Sample = readonly [format: WireFormat, what: string, read: ReadAnswer | undefined, mark: string];

const about = { idsInUse: [], scrub: (text: string) => text };
const chat = (fields: object) =>
  readCompletion({ choices: [{ message: { content: 'x', ...fields }, finish_reason: 'stop' }] }, about);
const response = (...items: object[]) =>
  readResponse(
    { status: 'completed', output: [...items, { type: 'message', content: [{ type: 'output_text', text: 'x' }] }] },
    about,
  );
const message = (...blocks: object[]) =>
  readMessage({ content: [...blocks, { type: 'text', text: 'x' }], stop_reason: 'end_turn' }, about);
const generated = (...content: object[]) =>
  readGenerated(
    {
      content: [...content, { type: 'text', text: 'x' }] as never,
      finishReason: 'stop',
      usage: {},
      warnings: [],
      response: {},
    },
    about,
  );

const run = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [{ mark: 'MARK' }] };
const providerCall = {
  type: 'tool-call',
  toolCallId: 's',
  toolName: 'web_search',
  input: '{}',
  providerExecuted: true,
};

const SAMPLES: readonly Sample[] = [
  ['openai-chat', '`reasoning_content`, `reasoning`, `reasoning_details`', chat({ reasoning_content: 'MARK' }), 'MARK'],
  [
    'openai-responses',
    '`reasoning` with `encrypted_content`',
    response({ type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'MARK' }),
    'MARK',
  ],
  ['openai-responses', '`reasoning` without', response({ type: 'reasoning', id: 'MARK', summary: [] }), 'MARK'],
  [
    'openai-responses',
    '`web_search_call` and other runs of OpenAI’s tools',
    response({ type: 'web_search_call', id: 'MARK' }),
    'MARK',
  ],
  ['openai-responses', 'what is new, beside a text', response({ type: 'new_call', id: 'MARK' }), 'MARK'],
  ['anthropic-messages', '`thinking`', message({ type: 'thinking', thinking: 'hm', signature: 'MARK' }), 'MARK'],
  ['anthropic-messages', '`redacted_thinking`', message({ type: 'redacted_thinking', data: 'MARK' }), 'MARK'],
  [
    'anthropic-messages',
    '`thinking` without a signature',
    message({ type: 'thinking', thinking: 'MARK', signature: '' }),
    'MARK',
  ],
  ['anthropic-messages', '`server_tool_use`, `mcp_tool_use`, with their results', message(run, found), 'MARK'],
  ['anthropic-messages', '… without a result', message({ ...run, id: 'MARK' }), 'MARK'],
  [
    'anthropic-messages',
    '`container_upload` and what is new',
    message({ type: 'container_upload', file_id: 'MARK' }),
    'MARK',
  ],
  [
    'ai-sdk',
    '`reasoning`',
    generated({ type: 'reasoning', text: 'hm', providerMetadata: { p: { signature: 'MARK' } } }),
    'MARK',
  ],
  [
    'ai-sdk',
    '`tool-call` of the provider, with its `tool-result`',
    generated(providerCall, { type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: 'MARK' }),
    'MARK',
  ],
  ['ai-sdk', '`file`', generated({ type: 'file', mediaType: 'image/png', data: 'TUFS' }), 'TUFS'],
  ['ai-sdk', '`source`', generated({ type: 'source', sourceType: 'url', id: 'u', url: 'MARK' }), 'MARK'],
];

function sampleRow([format, what, read, mark]: Sample): string[] {
  const opaque: readonly OpaquePart[] = read?.opaque ?? [];
  const request: UnifiedRequest = {
    ...plain,
    messages: [said, { role: 'assistant', text: 'x', calls: [], opaque }, said],
  };
  const { body, warnings } = written(format, request);
  const kinds = [...new Set(opaque.map(({ kind }) => `\`${kind}\``))].join(', ');
  const returned = JSON.stringify(body).includes(mark) ? 'yes' : 'no';
  const warned = warnings.map((code) => `, warns \`${code}\``).join('');
  return [`\`${format}\``, what, kinds, `${returned}${warned}`];
}

const FINISHES: readonly (readonly [format: WireFormat, words: Readonly<Record<string, string>>])[] = [
  ['openai-chat', CHAT_FINISH],
  ['openai-responses', { completed: 'stop', ...RESPONSES_INCOMPLETE }],
  ['anthropic-messages', MESSAGES_FINISH],
  ['ai-sdk', AI_SDK_FINISH],
];

/** By what the journal says, the words of each format for it. */
function finishRows(): string[][] {
  const reasons = ['stop', 'tool_calls', 'length', 'content_filter', 'interrupted', 'error'];
  return reasons.map((reason) => [
    `\`${reason}\``,
    ...FINISHES.map(([, words]) =>
      Object.keys(words)
        .filter((word) => words[word] === reason)
        .map((word) => `\`${word}\``)
        .join(', '),
    ),
  ]);
}

function errorRows(): string[][] {
  const statuses = [...Object.keys(VERDICT_BY_STATUS).map(Number), 300, 418, 500, 529];
  return statuses.map((status) => {
    const { failure, again } = verdictOf(status, undefined);
    const names = Object.keys(STATUS_BY_NAME).filter((name) => STATUS_BY_NAME[name] === status);
    const code = failure.status === 'error' ? failure.code : failure.status;
    return [String(status), names.map((name) => `\`${name}\``).join(', '), `\`${code}\``, again ? 'yes' : 'no'];
  });
}

/** Errors whose body says more than their status. */
const SAYING: readonly (readonly [what: string, error: { code: string; type: string; message: string }])[] = [
  ['`code: "context_length_exceeded"`', { code: 'context_length_exceeded', type: '', message: '' }],
  ['a message such as “prompt is too long”', { code: '', type: '', message: 'prompt is too long' }],
  ['`code: "insufficient_quota"`', { code: 'insufficient_quota', type: '', message: '' }],
  ['`type: "billing_error"`', { code: '', type: 'billing_error', message: '' }],
  ['`code: "content_filter"`', { code: 'content_filter', type: '', message: '' }],
];

function sayingRows(): string[][] {
  return SAYING.map(([what, error]) => {
    const { failure } = verdictOf(400, error);
    return [what, `\`${failure.status === 'error' ? failure.code : failure.status}\``];
  });
}

const PROFILES = {
  openAiCompatible: CHAT_PROFILE,
  openAiResponses: RESPONSES_PROFILE,
  anthropicMessages: MESSAGES_PROFILE,
};

function profileRows(): string[][] {
  const flags = [
    'profile_id',
    'supports_streaming',
    'supports_parallel_tool_calls',
    'supports_tool_choice_named',
    'supports_reasoning_effort',
    'media_types',
  ] as const;
  return flags.map((flag) => [
    `\`${flag}\``,
    ...Object.values(PROFILES).map((profile) => {
      const said = profile[flag];
      return Array.isArray(said) ? said.join(', ') : said === undefined ? 'none' : String(said);
    }),
  ]);
}

/** `docs/reference/providers.md`. */
export function providersPage(): string {
  const formats = COLUMNS.map((format) => `\`${format}\``);
  return [
    '# Providers',
    '',
    'What a model call says in each wire format, and what each says back. This page is made by the writers and readers themselves: a request was written with each field and without it, an answer was read and written back. How to use them: [Use a real model](../how-to/use-a-real-model.md).',
    '',
    '| client              | format               | operation                             | key                      |',
    '| ------------------- | -------------------- | ------------------------------------- | ------------------------ |',
    '| `openAiCompatible`  | `openai-chat`        | `POST …/chat/completions`             | `authorization: Bearer`  |',
    '| `openAiResponses`   | `openai-responses`   | `POST …/responses`                    | `authorization: Bearer`  |',
    '| `anthropicMessages` | `anthropic-messages` | `POST …/messages`                     | `x-api-key`              |',
    '| `aiSdk`             | `ai-sdk`             | `doStream`, `doGenerate` of the model | the model’s own          |',
    '',
    '## Requests',
    '',
    'Where a field of the unified request stands. *Warns*: the code is in the receipt’s warnings.',
    '',
    ...table(
      ['asked for', ...formats],
      ASKED.map(([what, base, request]) => [what, ...COLUMNS.map((format) => requestCell(format, base, request))]),
    ),
    '',
    'Native options go through as they are. Those that would replace what the journal says was asked (model, messages, tools, streaming) are left out with a warning.',
    '',
    '## How an answer ends',
    '',
    'The words of each format for what the journal records as `finish_reason`; every other word is `other`. Beside calls, `stop` is `tool_calls`. A refusal in a message is `content_filter`. `interrupted` also stands for an answer that the run stopped; a provider’s `pause_turn`, also behind the AI SDK, is one, and the run goes on from it.',
    '',
    ...table(['`finish_reason`', ...formats], finishRows()),
    '',
    '## What only its provider reads',
    '',
    'Such items are kept as opaque parts with their places, and go back to the same profile and model (chat completions: with `returnReasoning`). Calls of a provider’s own tools are never dispatched.',
    '',
    ...table(['format', 'item', 'kept as', 'goes back'], SAMPLES.map(sampleRow)),
    '',
    '## Usage',
    '',
    ...table(
      ['recorded', ...formats],
      [
        [
          '`tokens_in`, cached ones included',
          '`prompt_tokens`',
          '`input_tokens`',
          '`input_tokens` + `cache_read_input_tokens` + `cache_creation_input_tokens`, of all `iterations`',
          '`inputTokens.total`',
        ],
        [
          '`tokens_out`',
          '`completion_tokens`; `total_tokens` − `prompt_tokens` where that is more',
          '`output_tokens`',
          '`output_tokens`, of all `iterations`',
          '`outputTokens.total`',
        ],
        [
          '`tokens_cached`, `tokens_cache_read`',
          '`prompt_tokens_details.cached_tokens`, `cached_tokens`, `prompt_cache_hit_tokens`, `cache_read_input_tokens`',
          '`input_tokens_details.cached_tokens`',
          '`cache_read_input_tokens`',
          '`inputTokens.cacheRead`',
        ],
        [
          '`tokens_cache_write`',
          '`cache_creation_input_tokens`',
          '',
          '`cache_creation_input_tokens`',
          '`inputTokens.cacheWrite`',
        ],
        [
          '`tokens_reasoning`',
          '`completion_tokens_details.reasoning_tokens`',
          '`output_tokens_details.reasoning_tokens`',
          '`output_tokens_details.thinking_tokens`',
          '`outputTokens.reasoning`',
        ],
      ],
    ),
    '',
    '## What is malformed',
    '',
    'A stream is read the same wherever its bytes are cut, and what stands behind its end does not count. A piece of a call belongs to a call for certain, by its number, its id, or because no other call is open; else the stream is `provider_error_retryable/malformed` and is asked for again. So is a stream whose events stand out of their order (a second `message_start` or `response.created`, a block or an item that begins or ends twice, a piece of a block that has ended), one whose events contradict each other in the arguments of a call, and an answer that announces calls and has none.',
    '',
    'An answer that asks for something that only another kind of client can give (`mcp_approval_request`, `custom_tool_call`, `computer_call` and others: see [failure codes](failure-codes.md)) is a failure with its name, whatever else stands in it. Items that this version does not know are kept beside a text or calls; alone, they are a failure, too.',
    '',
    '## Errors',
    '',
    'A status, and the names that stand for it where an error comes inside an answer or a stream. *Again*: the same bytes are sent again, as often as the retry policy says, after what `retry-after-ms` or `retry-after` asks for. Nobody else repeats.',
    '',
    ...table(['status', 'names', 'failure code', 'again'], errorRows()),
    '',
    'Below 500 the body may say more than the status:',
    '',
    ...table(['the error says', 'failure code'], sayingRows()),
    '',
    'A connection that breaks, and a stream that ends before its end, is `provider_error_retryable/network`; an answer that is none `provider_error_retryable/malformed`; silence for `timeoutMs` is the status `timeout`, and is not asked again here.',
    '',
    '## When the model of a session is changed',
    '',
    '| in the transcript                                       | the next model                                                                 |',
    '| ------------------------------------------------------- | ------------------------------------------------------------------------------ |',
    '| texts, calls, results                                   | is told them                                                                   |',
    '| reasoning, signatures, runs of a provider’s tools       | is not, unless profile and model are the same; one `projection_loss:<kind>` for each kind |',
    '| ids of calls                                            | reads its own form of them, the same each time                                 |',
    '| images, documents                                       | is shown them when its profile takes their media types; else words and `projection_loss:image`, `…:document` |',
    '| several calls in one answer                             | is told them one after the other, when its profile takes no more                |',
    '',
    '## Profiles',
    '',
    'What a client is taken to be able to do; `profile` says otherwise. `aiSdk` has the profile `ai-sdk/<provider>`, does not set an effort, and shows images and PDFs to models of the third release of the SDK’s shape.',
    '',
    ...table(['', ...Object.keys(PROFILES).map((client) => `\`${client}\``)], profileRows()),
    '',
  ].join('\n');
}
