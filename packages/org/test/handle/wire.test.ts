/** Options in camel case, and the snake case in which they are recorded. */
import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { type Camel, wire } from '../../src/index.js';

interface Recorded {
  readonly agent_type: string;
  readonly on_member_failure?: string;
  readonly goal: string;
  readonly culture?: { readonly ttl_default: number };
}

describe('options in camel case', () => {
  it('the fields of options are recorded under their names in snake case, with their values as they are', () => {
    const given: Camel<Recorded> = {
      agentType: 'custom',
      onMemberFailure: 'abort',
      goal: 'Look.',
      culture: { ttl_default: 1 },
    };
    expect(wire<Recorded>(given, 'createSwarm')).toStrictEqual({
      ...{ agent_type: 'custom', on_member_failure: 'abort', goal: 'Look.', culture: { ttl_default: 1 } },
    });
  });

  it('a name in snake case is refused by the name that TypeScript has for it', () => {
    const refused = refusalOf(() => wire<Recorded>({ agent_type: 'custom', goal: 'Look.' } as never, 'createSwarm'));
    expect(refused).toMatchObject({
      code: 'invalid_argument',
      details: { where: 'agent_type', expected: 'agentType' },
    });
  });

  it('what is no object of options is refused by name', () => {
    for (const given of [null, 'text', 7])
      expect(refusalOf(() => wire(given as never, 'createSwarm'))).toMatchObject({ code: 'invalid_argument' });
  });
});

function refusalOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw error;
  }
  return undefined;
}
