import type { Value } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { describe, expect, it } from 'vitest';
import { withoutUnreachableBounds } from '../../src/mcp/entry/schema-bounds.js';

describe('bounds of 64-bit integers in schemas of others', () => {
  it('a bound that no number reaches is left out, at every depth, and other bounds stay [TOOL-60]', () => {
    const schema = parseJson(`{"type":"object","properties":{"a":{"type":"integer","minimum":-9223372036854775808,
      "maximum":9223372036854775807},"b":{"items":[{"minimum":0,"exclusiveMaximum":1.8e19}]},"maximum":{"type":"string"}}}`);
    expect(withoutUnreachableBounds(schema as Value)).toEqual({
      type: 'object',
      properties: { a: { type: 'integer' }, b: { items: [{ minimum: 0 }] }, maximum: { type: 'string' } },
    });
  });

  it('a bound beyond which every number lies stays, and the schema is refused as it is [TOOL-60]', () => {
    const schema = parseJson('{"minimum":9223372036854775807,"maximum":"none","const":9223372036854775807}') as Value;
    expect(withoutUnreachableBounds(schema)).toEqual(schema);
  });
});
