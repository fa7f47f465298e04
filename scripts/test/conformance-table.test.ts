import { describe, expect, it } from 'vitest';
import { conformanceTable } from '../lib/conformance-table.mjs';

const test = (heading: string, title: string, status = 'passed') => ({ ancestorTitles: [heading], title, status });
const modes = (...assertionResults: ReturnType<typeof test>[]) => ({
  name: 'conformance/modes/modes.test.ts',
  status: 'passed',
  assertionResults,
});

describe('the table of npm run conformance', () => {
  it('the table shows the number of green protocols for each scenario and mode', () => {
    const table = conformanceTable([
      modes(test('fresh', 'a × x'), test('fresh', 'a × y'), test('crash (seed 1)', 'a × x'), test('fresh', 'b × x')),
      {
        name: 'packages/providers/test/profiles/profiles.test.ts',
        status: 'passed',
        assertionResults: [test('a client', 'a [MOD-1, MOD-2]')],
      },
    ]);
    expect(table).toMatch(/^scenario +fresh +crash +live\n/);
    expect(table).toMatch(/^a +✓ 2 +✓ 1 +✓ 1$/m);
    expect(table).toMatch(/^b +✓ 1$/m);
    expect(table).toContain('3 golden heads of scenarios');
    expect(table).toMatch(/^modes +✓ 4 of 4 +0 s$/m);
  });

  it('the table lists red tests by name, and a file that failed to load as one check', () => {
    const unloaded = { name: 'packages/org/test/flow/crash/kill.test.ts', status: 'failed', assertionResults: [] };
    const table = conformanceTable([modes(test('fresh', 'a × x', 'failed'), test('fresh', 'a × y')), unloaded]);
    expect(table).toMatch(/^a +✗ 1\/2$/m);
    expect(table).toContain('✗ conformance/modes/modes.test.ts: fresh > a × x');
    expect(table).toMatch(/^org +✗ 0 of 1/m);
  });

  it('the table counts skipped checks separately, and shows a scenario without a mode as red', () => {
    const adapters = {
      name: 'packages/tools/test/adapters/adapters.test.ts',
      status: 'passed',
      assertionResults: [test('tools', 'a secret', 'skipped'), test('tools', 'a deadline')],
    };
    const table = conformanceTable([adapters, modes(test('fresh', 'a × x', 'skipped'))]);
    expect(table).toMatch(/^tools +✓ 1 of 1, 1 left out/m);
    expect(table).toMatch(/^a +✗ 0\/1$/m);
  });

  it('the table counts the mutants that were found', () => {
    const mutants = modes(test('mutants', 'a byte'), test('fresh', 'mutant: a word', 'failed'), test('fresh', 'a × x'));
    expect(conformanceTable([mutants])).toContain('mutants found: 1 of 2');
  });

  it('the table counts the divergences that were caught', () => {
    const matrix = modes(test('matrix', 'divergence: a clock'), test('matrix', 'divergence: chance', 'failed'));
    expect(conformanceTable([matrix])).toContain('divergences caught: 1 of 2');
  });
});
