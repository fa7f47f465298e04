/** Odd tools, messages and greetings. */
import fc from 'fast-check';
import type { Said } from './stage.js';

const odd = fc.constantFrom<unknown>(
  null,
  7,
  -1.5,
  '',
  'x',
  true,
  false,
  [],
  [7],
  {},
  { a: null },
  [[]],
  'true',
  '2.0',
);

/** A tool by the book, with each member that a tool may have. */
const whole = (name: string) => ({
  name,
  title: 'A tool',
  description: 'Does it.',
  inputSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  outputSchema: { type: 'object', properties: {} },
  annotations: { title: 't', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  execution: { taskSupport: 'optional' },
  icons: [{ src: 'https://x.example/i.png' }],
  _meta: { a: 1 },
});

type Json = Record<string, unknown>;

/** The paths of all members inside a value. */
function pathsOf(value: unknown, before: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [[...before, key], ...pathsOf((value as Json)[key], [...before, key])]);
}

/** A copy in which one member is something else, or missing. */
function changed(value: unknown, path: readonly (string | number)[], put: unknown): unknown {
  const copy = structuredClone(value) as Json;
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key] as Json;
  const last = path.at(-1) ?? '';
  if (put === undefined) delete at[last];
  else at[last] = put;
  return copy;
}

function mutated(value: unknown, keep: (path: readonly (string | number)[]) => boolean = () => true) {
  const paths = pathsOf(value).filter(keep);
  return fc
    .tuple(fc.nat(paths.length - 1), fc.oneof(odd, fc.constant(undefined)))
    .map(([at, put]) => changed(value, paths[at] ?? [], put));
}

/** A list: tools of which some are odd, the names of the others, and further members of the page. */
export const oddTools = fc
  .array(
    fc.oneof(
      fc.constant('good' as const),
      mutated(whole('odd')).map((tool) => ({ tool })),
      odd.map((tool) => ({ tool })),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .chain((items) =>
    fc.constantFrom('', ',"nextCursor":null', ',"_meta":7', ',"nextCursor":""', ',"ttlMs":"x"').map((more) => {
      const named = items.map((item, n) => {
        if (item === 'good') return whole(`good-${n}`);
        const { tool } = item;
        const isNamed = typeof tool === 'object' && tool !== null && (tool as Json).name === 'odd';
        return isNamed ? { ...tool, name: `odd-${n}` } : tool;
      });
      const good = items.flatMap((item, n) => (item === 'good' ? [`good-${n}`] : []));
      return { tools: named.map((tool) => JSON.stringify(tool)), good, more };
    }),
  );

const ANSWER = {
  jsonrpc: '2.0',
  id: '$ID',
  result: {
    content: [
      { type: 'text', text: 'ok', annotations: { audience: ['user'], priority: 1 }, _meta: { a: 1 } },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'memo://1', text: 'memo', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'memo://2', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'memo://3', name: 'another', size: 3 },
    ],
    structuredContent: { n: 1, list: [true] },
    isError: false,
    _meta: { progressToken: 1 },
  },
};

const NOISE = [
  'a line of a log',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":null}',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}',
  '{"jsonrpc":"1.0","method":"notifications/message","params":{"level":7}}',
  '{"jsonrpc":"2.0","id":null,"method":"ping"}',
  '{"jsonrpc":"2.0","id":{},"method":"roots/list"}',
  '{"jsonrpc":"2.0","id":987654,"result":{}}',
  '[]',
  'null',
  '"text"',
];

/**
 * An answer that is changed in one place or cut, among odd messages. On standard input the id stays: what has another id
 * is the answer to something else.
 */
export function oddMessage(isHttp: boolean): fc.Arbitrary<Said> {
  const answer = mutated(ANSWER, ([first]) => first !== 'id').map((value) =>
    JSON.stringify(value).replace('"$ID"', '$ID'),
  );
  const cut = fc.tuple(answer, fc.integer({ min: 30, max: 200 })).map(([text, at]) => text.slice(0, at));
  const error = mutated(
    { jsonrpc: '2.0', id: '$ID', error: { code: -32000, message: 'no', data: {} } },
    ([first]) => first !== 'id',
  ).map((value) => JSON.stringify(value).replace('"$ID"', '$ID'));
  const noise = fc.array(fc.constantFrom(...NOISE), { maxLength: 3 });
  const text = fc.oneof(
    { weight: 6, arbitrary: answer },
    { weight: 2, arbitrary: cut },
    { weight: 2, arbitrary: error },
  );
  const how = fc.constantFrom('json' as const, 'events' as const, 'plain' as const, 'untyped' as const);
  return fc.tuple(noise, text, noise, how).map(([before, own, after, way]) => {
    if (!isHttp) return { texts: [...before, own, ...after] };
    return way === 'events' ? { texts: [...before, own, ...after], how: way } : { texts: [own], how: way };
  });
}

const greeting = (result: string) => `{"jsonrpc":"2.0","id":$ID,"result":${result}}`;

/** Greetings with something odd. */
export const greetings: readonly (readonly [string, string])[] = [
  ['it says nothing of itself', greeting('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}')],
  [
    'its name is a number',
    greeting('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":7,"version":null}}'),
  ],
  [
    'its capabilities are null',
    greeting('{"protocolVersion":"2025-06-18","capabilities":null,"serverInfo":{"name":"x","version":"1"}}'),
  ],
  [
    'it announces no tools',
    greeting('{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'),
  ],
  [
    'a capability is true',
    greeting(
      '{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"prompts":7,"logging":[]},"serverInfo":{"name":"x","version":"1"}}',
    ),
  ],
  [
    'its instructions are an object',
    greeting(
      '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"},"instructions":{}}',
    ),
  ],
  ['it names no revision', greeting('{"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}')],
];
