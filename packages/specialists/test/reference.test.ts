/** The reference page of teams names all that the contracts hold. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectFacts } from '../src/pure/contracts/index.js';
import {
  COORDINATOR_TOOLS,
  PROJECT_REFUSALS,
  PROJECT_STATUSES,
  RESULT_STATUSES,
  TASK_FAILURES,
  TASK_STATUSES,
  WORKER_TOOLS,
} from '../src/pure/index.js';

const page = readFileSync(new URL('../../../docs/reference/teams.md', import.meta.url), 'utf8');

describe('the reference page of teams', () => {
  it.each([
    ['tools', [...COORDINATOR_TOOLS, ...WORKER_TOOLS]],
    ['refusals', PROJECT_REFUSALS],
    ['states', [...TASK_STATUSES, ...RESULT_STATUSES, ...PROJECT_STATUSES]],
    ['facts', Object.keys(projectFacts).filter((name) => name.startsWith('specialists/'))],
  ])('the page names all %s', (_, names) => {
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('the page names each code with which a task fails [SPEC-38]', () => {
    expect(TASK_FAILURES.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });
});
