/**
 * Random transcripts: items in any order, with content that is intact, erased, missing, or of another type than its
 * link says.
 */
import { putText, type TranscriptItem, transcriptItem } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import { Ref } from '@reprise/contracts';
import { type ContentStore, EMPTY_HEAD, type ErasableContentStore, memory, putValue } from '@reprise/kernel';
import fc from 'fast-check';

/** The fate of a blob. */
type Fate = 'kept' | 'erased' | 'missing' | 'wrong';

interface Blob {
  readonly data: Value;
  readonly fate: Fate;
}

const fate = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Fate>('kept') },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('erased', 'missing', 'wrong') },
);
const word = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('', ' ', '\n', 'Grüße ☃', '\u0000'));
// The codec has no key `__proto__`.
const json = fc
  .jsonValue({ maxDepth: 2 })
  .filter((data) => !JSON.stringify(data).includes('__proto__')) as fc.Arbitrary<Value>;
const blobOf = (data: fc.Arbitrary<Value>) => fc.record({ data, fate });
const text = blobOf(word);
const anything = blobOf(json);

const callId = fc.oneof(
  fc.constantFrom('a', 'b', '0', 'c_1', 'toolu_01', 'Ünsafe id!', 'x'.repeat(128), 'call-'.repeat(12)),
  fc.string({ minLength: 1, maxLength: 20 }),
);
const tool = fc.oneof(fc.constantFrom('add', 'grep', 'no_tool'), fc.string({ minLength: 1, maxLength: 80 }));
const profile = fc.constantFrom('one', 'two');
const view = fc.oneof(
  fc.constantFrom('full' as const, 'summary' as const),
  fc.record({ head: fc.integer({ min: 1, max: 20 }) }),
);
const native = fc.oneof(
  json,
  fc.constantFrom<Value>(
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking', data: 'x' },
    { at: { text: 1, calls: 0 }, item: { type: 'thinking', thinking: 'hm', signature: 's' } },
    { at: { text: 3, calls: 2 }, item: { type: 'thinking', thinking: 'hm', signature: 's' } },
    { at: { text: 2, calls: 0 }, item: { type: 'text', citations: [{ type: 'c' }] } },
    { at: { text: 2, calls: 1 }, item: { type: 'server_tool_use', id: 's1', name: 'x', input: {} } },
    { at: { text: 2, calls: 1 }, item: { type: 'web_search_tool_result', tool_use_id: 's1', content: [] } },
    { type: 'server_tool_use', id: 's1', name: 'x', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 's1', content: 'x' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
    { at: { text: 2, calls: 1 }, item: { type: 'reasoning', summary: [], encrypted_content: 'e' } },
    { at: { text: 9, calls: 1 }, item: { type: 'web_search_call', id: 'ws_1' } },
    { at: { text: 4, calls: 0 }, item: { type: 'message', phase: 'commentary' } },
    { at: { text: 4, calls: 0 }, item: { type: 'message', annotations: [{ type: 'c' }] } },
    { type: 'reasoning', text: 'hm', providerMetadata: { p: { signature: 's' } } },
    { at: { text: 2, calls: 1 }, item: { type: 'reasoning', text: 'hm' } },
    { at: { text: 2, calls: 1 }, item: { type: 'marks', providerMetadata: { p: { s: 1 } } } },
    { type: 'tool-call', toolCallId: 't1', toolName: 'x', input: '{}', providerExecuted: true },
    { at: { text: 1, calls: 0 }, item: { type: 'tool-result', toolCallId: 't1', toolName: 'x', result: [] } },
    { type: 'source', id: 'x' },
    { type: 'file', mediaType: 'image/png', data: 'AA==' },
    { reasoning_content: 'hm' },
    { reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
  ),
);
const opaque = fc.record({ kind: fc.constantFrom('reasoning', 'provider_tool', 'other'), native });
const output = fc.record(
  { text: word, tool_calls: fc.constant<Value>([]), opaque: fc.array(opaque, { maxLength: 4 }) },
  { requiredKeys: ['tool_calls'] },
) as fc.Arbitrary<Value>;

const part = fc.oneof(
  fc.record({ kind: fc.constant('text'), text_ref: text }),
  fc.record({
    kind: fc.constant('blob'),
    blob_ref: text,
    view,
    media_type: fc.constantFrom('text/plain', 'application/json', 'image/png'),
  }),
  fc.record({ kind: fc.constant('result'), child: tool, output_ref: blobOf(output), view }),
);
const child = fc.record(
  {
    child: fc.constantFrom('c1', 'c2'),
    agent: fc.constant('scout'),
    status: fc.constantFrom('running', 'completed', 'failed', 'absent'),
    code: fc.constant('adapter_error'),
    output_ref: blobOf(output),
    value_ref: anything,
  },
  { requiredKeys: ['child', 'agent', 'status'] },
);
const file = fc.record({
  blob_ref: text,
  path: fc.constant('out/a.png'),
  media_type: fc.constant('image/png'),
  bytes: fc.nat(),
});
const nonExecution = fc.record(
  {
    kind: fc.constantFrom('denied', 'cancelled', 'interrupted', 'outcome_unknown', 'completed_late', 'failed'),
    code: fc.constant('policy_denied/not_approved'),
  },
  { requiredKeys: ['kind'] },
);

/** An item with blobs in place of links. */
export const anyItem = fc.oneof(
  fc.record({
    role: fc.constant('user'),
    origin: fc.constantFrom('input', 'follow_up', 'steer', 'loop', 'repair', 'parent'),
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
  }),
  fc.record(
    {
      role: fc.constant('assistant'),
      output_ref: fc.oneof(blobOf(output), anything),
      by: fc.record({ profile, model: fc.constantFrom('m', 'n') }),
      calls: fc.array(fc.record({ call_id: callId, tool, args_ref: anything }), { maxLength: 4 }),
      interrupted: fc.constant(true),
    },
    { requiredKeys: ['role', 'output_ref', 'by', 'calls'] },
  ),
  fc.record(
    {
      role: fc.constant('tool'),
      call_id: callId,
      tool,
      output_ref: text,
      files: fc.array(file, { maxLength: 2 }),
      children: fc.array(child, { maxLength: 2 }),
      non_execution: nonExecution,
      is_error: fc.boolean(),
      edited_args_ref: anything,
      note_ref: text,
    },
    { requiredKeys: ['role', 'call_id', 'tool', 'is_error'] },
  ),
  fc.record(
    {
      role: fc.constant('late'),
      call_id: callId,
      tool,
      status: fc.constantFrom('ok', 'error', 'timeout', 'denied', 'cancelled', 'outcome_unknown'),
      output_ref: text,
    },
    { requiredKeys: ['role', 'call_id', 'tool', 'status'] },
  ),
);

/** A random transcript. */
export const anyTranscript = fc.array(anyItem, { maxLength: 14 });

/** A transcript in a store, with its blobs stored and then brought to their fates. */
export interface Planted {
  readonly content: ContentStore;
  readonly items: TranscriptItem[];
  readonly close: () => Promise<void>;
}

/** Stores a random transcript. */
export async function plant(drawn: readonly unknown[]): Promise<Planted> {
  const open = await memory().open();
  const content = open.content as ErasableContentStore;
  const [doomed, lost, kept]: [Ref[], string[], Set<string>] = [[], [], new Set()];
  const link = async (given: unknown): Promise<unknown> => {
    if (Array.isArray(given)) return Promise.all(given.map(link));
    if (typeof given !== 'object' || given === null) return given;
    if ('fate' in given) return plantBlob(given as Blob, content, { doomed, lost, kept });
    const entries = Object.entries(given).map(async ([key, field]) => [key, await link(field)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  const items = ((await link(drawn)) as unknown[]).map((item) => transcriptItem.parse(item));
  await open.journal.append([], EMPTY_HEAD);
  const goners = doomed.filter(({ hex }) => !kept.has(hex));
  if (goners.length > 0) await content.erase(goners, 1);
  return { content, items, close: () => open.close() };
}

async function plantBlob(
  { data, fate }: Blob,
  content: ContentStore,
  into: { doomed: Ref[]; lost: string[]; kept: Set<string> },
): Promise<Ref> {
  if (fate === 'missing') return Ref.fromHex('0'.repeat(63) + String(into.lost.push('')).slice(-1), 'value');
  if (fate === 'wrong') return (await putText(content, 'not a value\u0000')).asValue();
  const ref = typeof data === 'string' ? await putText(content, data) : await putValue(content, data);
  if (fate === 'erased') into.doomed.push(ref);
  else into.kept.add(ref.hex);
  return ref;
}
