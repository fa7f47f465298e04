import type { ToolEntry } from '@reprise/agent';
import { Ref } from '@reprise/contracts';
import { expect, it } from 'vitest';
import { cpuMsOf } from '../../../scripts/lib/cpu.js';
import { mcp } from '../src/mcp/index.js';
import { linearValidator } from '../src/mcp/transport/validator.js';

const HOSTILE = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } }, required: ['a'] };

/** A server's tool that describes its arguments with a schema. No server is started: the entry is the recorded one. */
function toolBy(schema: ToolEntry['schema']) {
  const origin = {
    toolset: 'far',
    tool: 'pay',
    descriptor_ref: Ref.fromHex('0'.repeat(64)),
    hints: { read_only: false, destructive: false, idempotent: false, open_world: false },
  };
  const entry: ToolEntry = {
    name: 'far__pay',
    description: '',
    schema,
    kind: 'tool',
    fingerprint: '0'.repeat(64),
    guarantee: 'at_most_once',
    family: 'mcp',
    parallel: true,
    polling: false,
    on_unknown: 'tell_model',
    origin,
  };
  const live = mcp('far', { command: ['none'] }).open({ closing: new AbortController().signal });
  return live.tool(entry);
}

it('arguments are checked against a hostile pattern at once, where a backtracking engine would never end [TOOL-32]', async () => {
  const args = { a: `${'a'.repeat(36)}!` };
  const cost = await cpuMsOf(async () => {
    expect(await toolBy(HOSTILE)?.args['~standard'].validate(args)).toMatchObject({ issues: [{ path: ['a'] }] });
    expect(await toolBy(HOSTILE)?.args['~standard'].validate({ a: 'aaa' })).toEqual({ value: { a: 'aaa' } });
  });
  expect(cost).toBeLessThan(5_000);
});

it('the MCP package uses the same checker for its own checks [TOOL-32]', () => {
  const validate = linearValidator.getValidator(HOSTILE);
  expect(validate({ a: `${'a'.repeat(36)}!` }).valid).toBe(false);
  expect(validate({ a: 'a' })).toMatchObject({ valid: true, data: { a: 'a' } });
});
