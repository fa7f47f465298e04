import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOCIETY_TOOLS } from '../../src/pure/index.js';
import { fileSchema, type JsonSchema } from '../../src/wire/index.js';

const PAGE = path.resolve(import.meta.dirname, '../../../../docs/reference/society-tools.md');

const HEAD = `# Tools of a society

The tools that a world with a society [serves over MCP](../how-to/serve-a-world-over-mcp.md). Each has one JSON Schema for its arguments and one for its answer, in \`packages/society/src/schemas\`: \`<tool>.input.json\` and \`<tool>.output.json\`. The server lists them as they stand there. This page is made from the same source.

The caller of a tool is the principal of the request: a person \`human:<name>\`, or an agent \`cell:society/Entity@1/<agent_id>\` by its token. A tool is listed when the caller's rights permit it at that moment. Arguments that do not fit are a protocol error (−32602) that names the path; a refusal is a result with \`isError\`, whose \`error\` is one of [the refusals of societies](society.md#refusals). Calls with one \`command_id\` are one act and get one answer, also when a program made the first under its option \`id\` ([One act under one id](society.md#one-act-under-one-id)); other arguments under it are refused as \`duplicate_command\`, which says that nothing was done and what to do. Of an agent whose own cell has failed, what takes rights back is done ([An agent whose own cell has failed](society.md#an-agent-whose-own-cell-has-failed)): the answer then has \`cell: 'failed'\` and the fault under \`code\`.

Words of a swarm's agents, pages and archives are explained in [the reference of societies](society.md#words-pages-and-archives).

The resource \`society://inbox/<id>\` is the inbox of an entity. Events on the boards of its groups stand under \`unread\`: they get their numbers when \`events_poll\` reads them. Only that entity reads it, and a client that follows it is told when an event arrives.
`;

/** A schema in a few words. */
function told(schema: JsonSchema): string {
  const { $ref, enum: listed, anyOf, type, items } = schema;
  if (typeof $ref === 'string') return $ref.slice('#/$defs/'.length);
  if (Array.isArray(listed)) return listed.map((one) => `\`${one}\``).join(', ');
  if (Array.isArray(anyOf)) return anyOf.map((one) => told(one as JsonSchema)).join(' or ');
  if (type === 'array') return `list of ${told(items as JsonSchema)}`;
  if (Array.isArray(type)) return type.join(' or ');
  return typeof type === 'string' ? type : 'any JSON';
}

function row(name: string, schema: JsonSchema, isRequired: boolean): string {
  const { default: usual, description, minimum, maximum } = schema;
  const range = minimum === undefined ? '' : maximum === undefined ? `, from ${minimum}` : `, ${minimum} to ${maximum}`;
  const without = isRequired ? 'required' : usual === undefined ? '' : `\`${JSON.stringify(usual)}\``;
  return `| \`${name}\` | ${told(schema)}${range}${description === undefined ? '' : `: ${description}`} | ${without} |`;
}

function fields(schema: JsonSchema): string {
  const { properties, required } = schema as { properties: Record<string, JsonSchema>; required: string[] };
  return Object.entries(properties)
    .map(([name, one]) => row(name, one, required.includes(name)))
    .join('\n');
}

function page(): string {
  const tools = Object.entries(SOCIETY_TOOLS).map(([name, { description, args: stated, answer: answered }]) => {
    const args = fields(fileSchema(stated, 'input'));
    const none = 'It takes no arguments.';
    const table = args === '' ? none : `| argument | value | when absent |\n| --- | --- | --- |\n${args}`;
    const answer = Object.keys((fileSchema(answered, 'output') as { properties: object }).properties);
    return `## ${name}\n\n${description}\n\n${table}\n\nIt answers ${answer.map((one) => `\`${one}\``).join(', ')}.\n`;
  });
  return [HEAD, ...tools].join('\n');
}

describe('the page of the tools', () => {
  it('The reference lists every tool with the arguments of its schema', () => {
    if (process.env.DOCS_UPDATE === '1') writeFileSync(PAGE, page());
    expect(readFileSync(PAGE, 'utf8')).toBe(page());
  });
});
