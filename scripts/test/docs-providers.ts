/**
 * The reference page of the providers, made by asking the writers and readers themselves: each row of a request is a
 * request that was written, each row of an answer one that was read and written back.
 */
import type { OpaquePart } from '@reprise/agent';
import type { ProviderProfile, UnifiedMessage, UnifiedRequest, WireFormat } from '@reprise/providers';
import { AI_SDK_FINISH, readGenerated } from '../../packages/providers/src/ai-sdk/call-answer.js';
import { MESSAGES_PROFILE } from '../../packages/providers/src/anthropic/anthropic-messages.js';
import { MESSAGES_FINISH, readMessage } from '../../packages/providers/src/anthropic/messages-response.js';
import { draftRequest } from '../../packages/providers/src/generate/formats.js';
import { STATUS_BY_NAME, VERDICT_BY_STATUS, verdictOf } from '../../packages/providers/src/model/verdict.js';
import { CHAT_FINISH, readCompletion } from '../../packages/providers/src/openai/chat-response.js';
import { CHAT_PROFILE } from '../../packages/providers/src/openai/openai-compatible.js';
import { RESPONSES_PROFILE } from '../../packages/providers/src/openai/openai-responses.js';
import { RESPONSES_INCOMPLETE, readResponse } from '../../packages/providers/src/openai/responses-response.js';
import type { ReadAnswer } from '../../packages/providers/src/wire/answer.js';
import { table } from './docs-table.js';

const COLUMNS: readonly WireFormat[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'ai-sdk'];

/** A model with every ability, so that a missing part is missing in the format. */
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

/** An option, beside the same request without it. */
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
    'an image in a message',
    plain,
    { ...plain, messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }, media] }] },
  ],
  ['a call in the history', { ...withTools, messages: [said] }, called],
  ['the failure flag of a result', called, { ...called, messages: [said, asked, came({ isError: true })] }],
  ['an image in a tool result', called, { ...called, messages: [said, asked, came({ media: [media] })] }],
];

function written(format: WireFormat, request: UnifiedRequest) {
  const { body, warnings } = draftRequest(format, request, { model: 'm', profile: ABLE });
  return { body: JSON.parse(JSON.stringify(body)) as unknown, warnings };
}

/** Every leaf of a body with its path; lists without their numbers. */
function leavesOf(thing: unknown, path = ''): string[] {
  if (Array.isArray(thing)) return thing.flatMap((item) => leavesOf(item, `${path}[]`));
  if (typeof thing !== 'object' || thing === null) return [`${path}=${JSON.stringify(thing)}`];
  return Object.entries(thing).flatMap(([key, item]) => leavesOf(item, path === '' ? key : `${path}.${key}`));
}

/** The new parts of a body: the longest paths that contain all of them, one for each field at the top. */
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
  return [...places, ...new Set(told)].join(', ') || 'not supported';
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
  [
    'openai-responses',
    '`reasoning` without `encrypted_content`',
    response({ type: 'reasoning', id: 'MARK', summary: [] }),
    'MARK',
  ],
  [
    'openai-responses',
    '`web_search_call` and other calls of OpenAI’s own tools',
    response({ type: 'web_search_call', id: 'MARK' }),
    'MARK',
  ],
  ['openai-responses', 'an unknown item, beside a text', response({ type: 'new_call', id: 'MARK' }), 'MARK'],
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
    '`container_upload` and unknown blocks',
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

/** The words of each format, by those of the journal. */
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

/** Errors whose body has more information than their status. */
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
    'This page lists how each wire format encodes a model call and how its answers are read. It is generated by the writers and readers themselves: each request was written with and without a field, and each answer was read and written back. See [Use a real model](../how-to/use-a-real-model.md) for instructions.',
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
    'The table gives the location of each field of the unified request in each format. *Warns* means that the code is in the receipt’s warnings.',
    '',
    ...table(
      ['field', ...formats],
      ASKED.map(([what, base, request]) => [what, ...COLUMNS.map((format) => requestCell(format, base, request))]),
    ),
    '',
    'Native options are passed through unchanged. Options that would override the recorded request (model, messages, tools, streaming) are omitted with a warning.',
    '',
    '## How an answer ends',
    '',
    'The table lists the values of each format that the journal records as a `finish_reason`; any other value is `other`. In an answer with calls, `stop` is recorded as `tool_calls`. A refusal in a message is `content_filter`. `interrupted` is also recorded when the run stopped the answer, and for a provider’s `pause_turn`, also behind the AI SDK; the run continues after `pause_turn`.',
    '',
    ...table(['`finish_reason`', ...formats], finishRows()),
    '',
    '## Schemas of tools',
    '',
    'Providers refuse a request whose tools have schemas beyond the part of JSON Schema that they support. Each schema is written in a form that the format accepts; a schema that it accepts already stays as it is. What is left out stands in words in the `description` of its place, and the receipt warns `tool_schema_loosened:TOOL:KEYWORDS`. The arguments of a call are checked against the whole schema in any case.',
    '',
    '| in the schema | sent |',
    '| --- | --- |',
    '| a union, a reference or `allOf` at the root | an object with the properties of all choices; required is what every choice requires; the choices of `anyOf` and `oneOf` stand in the description |',
    '| `pattern` with look-around, back references, `\\p{…}`, flags or named groups | words |',
    '| `not`, `if`, `then`, `else`, `dependentSchemas`, `patternProperties`, `propertyNames`, `contains`, `unevaluatedProperties` and their like | words |',
    '| `exclusiveMinimum: true` and other spellings of draft 4 | the form of JSON Schema 2020-12 |',
    '| items with a schema each (`prefixItems`, or a list in `items`) | a list of any of them where their number is bounded, and words |',
    '| a list without `items` | `items: {}` |',
    '| a reference to `#`, `#/$defs/…` or `#/definitions/…` | as it is; other references within the schema are replaced by their target |',
    '| a `format` that the provider does not list | words |',
    '| a property whose name is not 1 to 64 letters, digits, `_`, `.` and `-`, for `anthropic-messages` and `ai-sdk` | words |',
    '| objects that nest deeper than 10 levels (`anthropic-messages`: 32) | words |',
    '| `$schema`, `$id`, `$comment`, `nullable`, `example` and keywords that JSON Schema does not have | nothing |',
    '',
    'At most 128 tools are sent (`anthropic-messages`: 1,024), the first by name; each further one is named by `tool_dropped:TOOL`, as is a tool whose name the format refuses.',
    '',
    '## Items for one provider only',
    '',
    'Items that only their provider can read are stored as opaque parts with their positions. They are sent back to the same profile and model (chat completions: only with `returnReasoning`). Calls of a provider’s own tools are never executed by Reprise.',
    '',
    ...table(['format', 'item', 'stored as', 'sent back'], SAMPLES.map(sampleRow)),
    '',
    '## Usage',
    '',
    ...table(
      ['recorded', ...formats],
      [
        [
          '`tokens_in`, including cached tokens',
          '`prompt_tokens`',
          '`input_tokens`',
          '`input_tokens` + `cache_read_input_tokens` + `cache_creation_input_tokens`, of all `iterations`',
          '`inputTokens.total`',
        ],
        [
          '`tokens_out`',
          '`completion_tokens`, or `total_tokens` − `prompt_tokens` if that is larger',
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
    '## Malformed answers',
    '',
    'The result of a stream does not depend on how its bytes are split, and bytes after its end are ignored. Each piece of a call must belong to a call with certainty: by its number, by its id, or because no other call is open. Otherwise the stream is `provider_error_retryable/malformed`, and the request is retried. The same applies to a stream whose events are out of order (a second `message_start` or `response.created`, a block or an item that begins or ends twice, a piece of a block that has ended), to a stream whose events contradict each other about the arguments of a call, and to an answer that announces calls and contains none.',
    '',
    'An answer may demand something that only another kind of client can provide (`mcp_approval_request`, `custom_tool_call`, `computer_call` and others: see [failure codes](failure-codes.md)). It is then a failure that names the demand, whatever else the answer contains. An unknown item is stored if the answer also has text or calls; an answer with unknown items only is a failure.',
    '',
    'An answer without text, calls and a finish reason is a failed attempt: an end mark is not an answer. The text that watchers were shown is the text of the answer; an answer whose final text differs from the streamed one is malformed. The error of a malformed answer says what is wrong with it, before the beginning of its body.',
    '',
    'A departure from the format that leaves exactly one reading is read, and the receipt carries a warning:',
    '',
    '| warning | what came |',
    '| --- | --- |',
    '| `empty_event` | an event without data, or with `null`: it is ignored |',
    '| `content_type:TYPE` | a stream of events under this content type, or one JSON value under `text/event-stream` |',
    '| `event_without_type` | an event whose type stands only in its name |',
    '| `message_without_delta`, `text_without_delta`, `content_at_start` | a stream with the whole message, the text alone, or the content in `message_start` |',
    '| `text_only_streamed`, `text_not_streamed` | a final output without the streamed text, which is then the text; a final text that goes on after the streamed one, which is then shown |',
    '| `end_of_another_format` | `[DONE]` after a stop reason of `anthropic-messages` |',
    '| `arguments_under_next_index` | arguments without an id and a name under the next number, beside only one open call |',
    '| `tool_args_read:no_arguments` | arguments that are `null` or an empty text |',
    '| `tool_args_read:encoded_again` | a JSON text that holds the object as JSON |',
    '| `tool_args_read:object_repeated` | the same object several times, or beside empty objects |',
    '| `tool_args_read:marks_around` | an object between marks of a template, or in a fence |',
    '| `tool_args_read:control_characters` | line breaks and other control characters in texts, which JSON wants escaped |',
    '| `call_repeated:TOOL`, `call_id_repeated:TOOL` | a call that came twice under one id, and was made as the option `repeatedCalls` says; another call under the same id |',
    '| `large_numbers_as_text` | numbers beyond ±(2^53−1) in an item that only the provider reads: they are kept as text |',
    '',
    'Arguments that leave no reading or several refuse the call: `args_not_json`, `args_not_object`, or `args_invalid` with the problem, such as text that is not well-formed. A number beyond ±(2^53−1), or one that is not finite, is passed on as the text of its digits where the schema of the tool takes only text; otherwise the call is refused as `args_invalid`, and the model reads the digits. See [numbers of others](../decisions/2026-11-28-numbers-of-others-keep-their-digits.md).',
    '',
    '## Errors',
    '',
    'The table lists each HTTP status with the names that represent it where an error arrives inside an answer or a stream. *Retried* means that the transport sends the same bytes again, as often as the retry policy permits, after the delay in `retry-after-ms` or `retry-after`. No other layer retries.',
    '',
    ...table(['status', 'names', 'failure code', 'retried'], errorRows()),
    '',
    'Below 500, the body may give a more specific code than the status:',
    '',
    ...table(['content of the error', 'failure code'], sayingRows()),
    '',
    'A failed attempt whose provider reported usage before it failed counts with the usage of its call, so a call that was sent again may use more than its reservation. An attempt that reported nothing, such as a refused one, counts nothing beside the usage of the call. Where a limit must hold even if a provider charges for such attempts, set `retry: { retriesMax: 0 }`.',
    '',
    'A broken connection and a truncated stream give `provider_error_retryable/network`. An invalid answer gives `provider_error_retryable/malformed`. When the provider is silent for `timeoutMs`, the status is `timeout`, and the transport does not retry.',
    '',
    '## Changing the model of a session',
    '',
    '| content of the transcript | treatment for the next model |',
    '| --- | --- |',
    '| texts, calls, results | sent |',
    '| reasoning, signatures, calls of a provider’s own tools | omitted unless profile and model are the same; one `prompt_loss:<kind>` for each kind |',
    '| ids of calls | converted to the form of the new format, always in the same way |',
    '| images, documents | sent under the type of their content when the format carries it and the profile lists it; otherwise replaced by words, with `prompt_loss:image` or `prompt_loss:document`; `prompt_loss:media_type` where another type was declared |',
    '| several calls in one answer | sent one after the other when the profile does not support several |',
    '',
    '## Profiles',
    '',
    'The table lists the default capabilities of each client; the option `profile` overrides them. `aiSdk` has the profile `ai-sdk/<provider>`. It has the same media types as `openAiResponses`, which models of every specification of the SDK get in its form, and it sets no effort unless the profile says that the model supports it: the specification `v4` (AI SDK 7) has a field for it.',
    '',
    ...table(['', ...Object.keys(PROFILES).map((client) => `\`${client}\``)], profileRows()),
    '',
  ].join('\n');
}
