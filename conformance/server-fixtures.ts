/** The fixtures that the protocol's conformance suite asks of a server, as a part of a world. */
import type { Served, ServedAnswer, ServedContent, ServedTool, WorldPart } from 'reprise/org';

const TEXT = new TextEncoder();

/** A red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);
/** A moment of silence. */
const WAV = Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=', 'base64');

const NO_ARGUMENTS = { type: 'object', additionalProperties: false } as const;

const IMAGE: ServedContent = { type: 'image', mediaType: 'image/png', bytes: PNG };

const CONTENT: Readonly<Record<string, readonly ServedContent[]>> = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [IMAGE],
  test_audio_content: [{ type: 'audio', mediaType: 'audio/wav', bytes: WAV }],
  test_embedded_resource: [
    {
      type: 'resource',
      uri: 'test://embedded-resource',
      mediaType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  ],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    IMAGE,
    {
      type: 'resource',
      uri: 'test://mixed-content-resource',
      mediaType: 'application/json',
      text: '{"test":"data","value":123}',
    },
  ],
  test_error_handling: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
  test_tool_with_progress: [{ type: 'text', text: 'done' }],
  json_schema_2020_12_tool: [{ type: 'text', text: 'valid' }],
};

const SCHEMA_TOOL: ServedTool['inputSchema'] = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/**
 * The part.
 *
 * @param broken gives a tool a schema of a wrong type, which the suite must find
 */
export function fixtures(broken = false): WorldPart<void> {
  const tools = Object.keys(CONTENT).map((name): ServedTool => {
    const inputSchema = name === 'json_schema_2020_12_tool' ? SCHEMA_TOOL : NO_ARGUMENTS;
    const wrong = { ...inputSchema, type: 'array' } as const;
    return {
      name,
      description: `The fixture ${name}`,
      inputSchema: broken ? wrong : inputSchema,
      outputSchema: { type: 'object' },
    };
  });
  return { name: 'fixtures', handle: () => undefined, served: { tools, call, resources: RESOURCES } };
}

const call: Served['call'] = async (_view, name, _args, _id, { progress }): Promise<ServedAnswer> => {
  if (name === 'test_tool_with_progress') {
    for (const done of [0, 50, 100]) {
      progress?.(done, `${done} of 100`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return { structured: {}, content: CONTENT[name] ?? [], isError: name === 'test_error_handling' };
};

const RESOURCES: NonNullable<Served['resources']> = [
  fixed('test://static-text', 'text/plain', TEXT.encode('This is the content of the static text resource.')),
  fixed('test://static-binary', 'image/png', PNG),
  fixed('test://watched-resource', 'text/plain', TEXT.encode('Watched.')),
  {
    uri: 'test://template/{id}/data',
    name: 'A template',
    description: 'A resource with a name in its address',
    mediaType: 'application/json',
    read: async (_view, uri) => {
      const id = uri.split('/')[3] ?? '';
      return TEXT.encode(JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }));
    },
  },
];

function fixed(uri: string, mediaType: string, bytes: Uint8Array): (typeof RESOURCES)[number] {
  return { uri, name: uri.slice('test://'.length), description: 'A fixture', mediaType, read: async () => bytes };
}
