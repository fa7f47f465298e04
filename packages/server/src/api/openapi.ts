/** The description of the operations on sessions, in OpenAPI 3.1: made from their table and from the schemas that check them. */
import { AGENT_EVENTS } from '@reprise/agent/contracts';
import { type AnySchema, defOf } from '@reprise/contracts/schema';
import { ROUTES, type Route } from './routes.js';

type Json = Readonly<Record<string, unknown>>;

const PROBLEM: Json = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'Why, from a closed list.' },
    detail: { type: 'string', description: 'Why, in words.' },
    where: { type: 'string', description: 'The part of the request.' },
    expected: { type: 'string' },
    reason: { type: 'string' },
  },
  required: ['type', 'title', 'status', 'code', 'detail'],
};

/** The description of all operations, as JSON. */
export function openApi(): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of ROUTES) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] as object, { [route.method.toLowerCase()]: operation(route) });
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sessions of a Reprise world', version: '1' },
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: PROBLEM, Event: EVENT, OrganizationEvent: ORGANIZATION_EVENT },
    },
    security: [{ token: [] }],
  };
}

/** An event, as far as all types have it in common; further fields are those of its type. */
const EVENT: Json = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: Object.keys(AGENT_EVENTS) },
    session_id: { type: 'string' },
    run_id: { type: ['string', 'null'] },
    turn_id: { type: ['string', 'null'] },
    step_id: { type: ['string', 'null'] },
    event_seq: { type: 'string' },
    correlation_id: { type: ['string', 'null'] },
    causation: { type: 'string' },
    at: { type: 'integer', description: 'The time of its frame, in milliseconds.' },
  },
  required: ['type', 'session_id', 'run_id', 'turn_id', 'step_id', 'event_seq', 'correlation_id', 'causation', 'at'],
};

/** A fact of an organization, as streams have it. */
const ORGANIZATION_EVENT: Json = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['organization.changed'] },
    organization: { type: 'string', description: 'What kind it is: tree, project or swarm.' },
    name: { type: 'string' },
    fact: { type: 'string', description: 'The name of the fact, such as tree/NodeChanged@1.' },
    value: { description: 'The value of the fact.' },
    event_seq: { type: 'string' },
    at: { type: 'integer', description: 'The time of its frame, in milliseconds.' },
  },
  required: ['type', 'organization', 'name', 'fact', 'value', 'event_seq', 'at'],
};

const EVENTS =
  'Each `data` is an Event; in streams of all events and of organizations also an OrganizationEvent; or a piece.';

function operation({ name, says, path, query = [], body, answer, status }: Route): Json {
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place]) => ({
    name: place,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const parameters = [
    ...places,
    ...query.map(({ says: description, ...one }) => ({ ...one, description, required: false })),
  ];
  const content = body === undefined ? {} : { 'application/json': { schema: jsonSchemaOf(body) } };
  return {
    operationId: name,
    description: says,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content } }),
    responses: {
      [status]: { description: 'The answer.', content: contentOf(answer) },
      default: {
        description: 'A refusal.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

function contentOf(answer: Route['answer']): Json {
  if (answer === 'events') return { 'text/event-stream': { schema: { type: 'string', description: EVENTS } } };
  if (answer === 'content') return { '*/*': {} };
  return { 'application/json': { schema: { type: 'object' } } };
}

/** The JSON Schema of what a schema of this vocabulary accepts: of the kinds that bodies of requests have. */
function jsonSchemaOf(schema: AnySchema): Json {
  const def = defOf(schema);
  const make = KINDS[def.type];
  if (make === undefined) throw new Error(`no JSON Schema for ${def.type}`);
  return make(def);
}

type Def = ReturnType<typeof defOf>;

const KINDS: Readonly<Record<string, (def: Def) => Json>> = {
  string: (def) => ({ type: 'string', ...lengthsOf(def) }),
  number: (def) => ({ type: 'integer', ...boundsOf(def) }),
  int: (def) => ({ type: 'integer', ...boundsOf(def) }),
  unknown: () => ({}),
  literal: ({ values }) => ({ enum: values }),
  enum: ({ entries }) => ({ type: 'string', enum: Object.values(entries as object) }),
  array: (def) => ({ type: 'array', items: jsonSchemaOf(def.element), ...itemsOf(def) }),
  record: ({ keyType, valueType }) => ({
    type: 'object',
    propertyNames: jsonSchemaOf(keyType),
    additionalProperties: jsonSchemaOf(valueType),
  }),
  union: ({ options }) => ({ anyOf: (options as AnySchema[]).map(jsonSchemaOf) }),
  optional: ({ innerType }) => jsonSchemaOf(innerType),
  object: ({ shape }) => {
    const fields = Object.entries(shape as Readonly<Record<string, AnySchema>>);
    const required = fields.filter(([, field]) => defOf(field).type !== 'optional').map(([name]) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, field]) => [name, jsonSchemaOf(field)])),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    };
  },
};

function checksOf(def: Def, names: Readonly<Record<string, string>>): Json {
  const found: Record<string, unknown> = {};
  for (const check of def.checks ?? []) {
    const { check: kind, minimum, maximum, value } = check._zod.def as Readonly<Record<string, unknown>>;
    const name = names[String(kind)];
    if (name !== undefined) found[name] = minimum ?? maximum ?? value;
  }
  return found;
}

const lengthsOf = (def: Def): Json => checksOf(def, { min_length: 'minLength', max_length: 'maxLength' });
const itemsOf = (def: Def): Json => checksOf(def, { min_length: 'minItems', max_length: 'maxItems' });
const boundsOf = (def: Def): Json => checksOf(def, { greater_than: 'minimum', less_than: 'maximum' });
