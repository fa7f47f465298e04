/**
 * Teams of specialists, as an app runs them: worlds on SQLite files in processes of their own, a model that is a server on
 * this machine and keeps each request.
 *
 *   npx tsx --conditions=@reprise/source conformance/team.ts --workflow [--world w.db] [--mutant leak]
 *   npx tsx --conditions=@reprise/source conformance/team.ts --kill 200 [--seed 1]
 */
import { parseArgs } from 'node:util';
import { killOwners } from './team/kill.js';
import { runWorkflow } from './team/run-workflow.js';

const { values: options } = parseArgs({
  options: {
    workflow: { type: 'boolean', default: false },
    world: { type: 'string' },
    mutant: { type: 'string' },
    kill: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
  },
});

/** Prints lines, and says whether they are as they have to be. */
function tell({ lines, isRight }: { readonly lines: readonly string[]; readonly isRight: boolean }): void {
  for (const line of lines) console.log(line);
  if (!isRight) process.exitCode = 1;
}

if (options.workflow) tell(await runWorkflow({ world: options.world, isLeaking: options.mutant === 'leak' }));
if (Number(options.kill) > 0) tell(await killOwners(Number(options.kill), Number(options.seed)));
