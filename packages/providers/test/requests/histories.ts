/**
 * Random histories, and the requests that the clients write of them: any items in any order, files, odd schemas and
 * names of tools, calls without results, windows that begin behind a summary.
 */

import { putText, type TranscriptItem } from '@reprise/agent';
import { PROMPT_VERSION, type Value } from '@reprise/contracts';
import { type ContentStore, encode, putValue } from '@reprise/kernel';
import fc from 'fast-check';
import { projectCall } from '../../src/generate/assemble-request.js';
import { aiSdk, anthropicMessages, type ModelClient, openAiCompatible, openAiResponses } from '../../src/index.js';
import { listed } from '../harness.js';
import { gifOf, UNSENDABLE, WHOLE } from '../media.js';
import { oddSchema } from '../odd-schemas.js';
import { anyTranscript, plant } from '../transcripts.js';
import { refusedByAiSdk } from './ai-sdk.js';
import { refusedByAnthropic } from './anthropic.js';
import { refusedByChat, refusedByResponses } from './openai.js';

/** Whole files, whole files under the type of another, files that cannot be opened under each type, and other types. */
const FILES: readonly (readonly [mediaType: string, bytes: Uint8Array])[] = [
  ...Object.entries(WHOLE),
  ...Object.keys(WHOLE).flatMap((type, i, types) => {
    const other = WHOLE[types[(i + 1) % types.length] ?? type] ?? new Uint8Array();
    return [[type, other] as const];
  }),
  ...Object.values(UNSENDABLE).flatMap((bytes, i) => [[Object.keys(WHOLE)[i % 5] ?? 'image/png', bytes] as const]),
  ['image/gif', gifOf({ frames: 2 })],
  ['image/tiff', Uint8Array.from([0x49, 0x49, 0x2a, 0])],
  ['audio/wav', new TextEncoder().encode('RIFF____WAVEfmt ')],
  ['application/octet-stream', Uint8Array.from([0, 1, 2, 3])],
];

const IMAGES_AND_PDF = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];

const toolName = fc.oneof(
  fc.constantFrom('add', 'grep', 'files__read', 'a.b', 'bad name', 'x'.repeat(65), '', '名', 'no_tool'),
  fc.string({ minLength: 1, maxLength: 70 }),
);

/** Whether a list of tools with this schema can be stored: others never reach a request. */
function isStored(schema: fc.JsonValue): boolean {
  try {
    encode([{ schema }] as Value);
    return true;
  } catch {
    return false;
  }
}

/** A random history, and the call that is made of it. */
export const anyHistory = fc.record({
  drawn: anyTranscript,
  files: fc.array(fc.nat(FILES.length - 1), { minLength: 1, maxLength: 6 }),
  tools: fc.array(
    fc.record({ name: toolName, description: fc.string({ maxLength: 20 }), schema: oddSchema.filter(isStored) }),
    {
      maxLength: 4,
    },
  ),
  from: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8) }),
  summary: fc.option(fc.constantFrom('What was said.', '', ' '), { nil: undefined }),
  system: fc.constantFrom('Be brief.', '', ' '),
  options: fc.record(
    {
      max_tokens: fc.integer({ min: 1, max: 100_000 }),
      temperature: fc.double({ min: 0, max: 2, noNaN: true }),
      tool_choice: fc.constantFrom('auto', 'none', 'required', 'add', 'absent'),
      reasoning_effort: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
      stop_sequences: fc.array(fc.constantFrom('END', ' ', '', '\n'), { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: [] },
  ),
});

/** A random history. */
export type History = typeof anyHistory extends fc.Arbitrary<infer T> ? T : never;

/** A client that writes requests, and the server that judges them. */
export interface Way {
  readonly name: string;
  readonly client: ModelClient;
  readonly refused: (body: unknown) => string[];
}

const noModel = async () => ({});

function ofAiSdk(specificationVersion: 'v2' | 'v3' | 'v4'): Way {
  const model = { specificationVersion, provider: 'p', modelId: 'm', doGenerate: noModel, doStream: noModel };
  return { name: `ai-sdk ${specificationVersion}`, client: aiSdk(model), refused: refusedByAiSdk };
}

const local = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k' };

/** Every client, with a strict server of its format. */
export const WAYS: readonly Way[] = [
  {
    name: 'openai-chat',
    client: openAiCompatible({ ...local, model: 'm', profile: { media_types: IMAGES_AND_PDF } }),
    refused: refusedByChat,
  },
  { name: 'openai-responses', client: openAiResponses('m', local), refused: refusedByResponses },
  { name: 'anthropic-messages', client: anthropicMessages('m', local), refused: refusedByAnthropic },
  {
    name: 'anthropic-messages, by budget',
    client: anthropicMessages('m', { ...local, effort: 'budget' }),
    refused: refusedByAnthropic,
  },
  ofAiSdk('v2'),
  ofAiSdk('v3'),
  ofAiSdk('v4'),
];

/** The requests of a history, one for each client, and what their servers refuse. */
export interface Sent {
  readonly way: string;
  readonly body: unknown;
  readonly refused: readonly string[];
}

/** Has each client write the request of a history, and each server judge it. */
export async function send(history: History, ways: readonly Way[] = WAYS): Promise<Sent[]> {
  const planted = await plant(history.drawn);
  try {
    const { content } = planted;
    const items = await withFiles(planted.items, history.files, content);
    const params = await paramsOf(history, content);
    const sent: Sent[] = [];
    for (const { name, client, refused } of ways) {
      const { request } = await projectCall(params, { content, client, readContext: listed(items) });
      const body: unknown = JSON.parse(new TextDecoder().decode(client.write(request).body));
      sent.push({ way: name, body, refused: refused(body) });
    }
    return sent;
  } finally {
    await planted.close();
  }
}

async function paramsOf(history: History, content: ContentStore): Promise<Parameters<typeof projectCall>[0]> {
  const { from, summary, tools, system, options } = history;
  const base = summary === undefined ? {} : { base_ref: (await putText(content, summary)).asValue() };
  return {
    model: 'main',
    session: { key: 'me', labels: {} },
    def_ref: await putText(content, 'def'),
    config_rev: 0,
    system_ref: await putText(content, system),
    context_head: await putText(content, 'head'),
    window: { from, ...base },
    tools_ref: await putValue(content, tools as never),
    prompt: PROMPT_VERSION,
    ...options,
  };
}

/** The items with files of all kinds in the places of pictures. */
async function withFiles(
  items: readonly TranscriptItem[],
  which: readonly number[],
  content: ContentStore,
): Promise<TranscriptItem[]> {
  const stored = await Promise.all(
    FILES.map(async ([media_type, bytes]) => ({ media_type, blob_ref: await content.put(bytes) })),
  );
  let next = 0;
  const file = () => stored[which[next++ % which.length] ?? 0] ?? {};
  return items.map((item): TranscriptItem => {
    if (item.role === 'user') {
      const parts = item.parts.map((part) =>
        part.kind === 'blob' && part.media_type === 'image/png' ? { ...part, ...file() } : part,
      );
      return { ...item, parts };
    }
    if (item.role !== 'tool' || item.files === undefined) return item;
    return { ...item, files: item.files.map((one) => ({ ...one, ...file() })) };
  });
}
