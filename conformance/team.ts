/**
 * Teams of specialists, as an app runs them: worlds on SQLite files in processes of their own, a model that is a server on
 * this machine and keeps each request.
 *
 *   npx tsx --conditions=@reprise/source conformance/team.ts --workflow [--world w.db] [--mutant leak]
 *   npx tsx --conditions=@reprise/source conformance/team.ts --kill 200 [--seed 1]
 *   npx tsx --conditions=@reprise/source conformance/team.ts --story
 *   … conformance/team.ts --skills | --timeout | --burst 40 | --mislead | --own | --grants | --fork [--mutant handlers]
 *   … conformance/team.ts --budget [--mutant reserve]
 *   … conformance/team.ts --graphs 500 | --projects 1000 | --schedules 10000 [--seed 1]
 *
 * `--story`: a small team is killed before and after each of its appends. `--skills`: files of skills are added, changed, broken and removed while the world is open. `--timeout`: a job of two
 * seconds with a program that does not end. `--burst N`: N jobs that end together. `--mislead`: a coordinator that believes
 * what a worker says. `--grants`: rights of a project that do not cover a tool, and that are narrowed while its specialists
 * work. `--budget`: a dollar that is used up in the middle of a graph, beside a ledger of its own; `--mutant reserve` does not
 * count what is set aside. `--own`: a tool of the app with the name of one of the coordinator's. `--fork`: a dry fork
 * from before the plan; `--mutant handlers` lets the planner write tasks by a tool that sends a request. `--graphs N`: random graphs in two projects on one pool. `--schedules N`: random schedules of a
 * project on its reducer alone, beside plain lists.
 */
import { parseArgs } from 'node:util';
import { keepBudget } from './team/budget.js';
import { forkBeforePlan } from './team/fork.js';
import { narrowGrants } from './team/grants.js';
import { launchGraphs } from './team/graphs.js';
import { killOwners } from './team/kill.js';
import { UNRESERVED } from './team/mutants.js';
import { manyProjects } from './team/projects.js';
import { withPlanted } from './team/run.js';
import { runWorkflow } from './team/run-workflow.js';
import { changeSkills, endTogether, mislead, ownName, timeOut } from './team/scenes.js';
import { holdSchedules } from './team/schedule.js';
import { killStory } from './team/story-kills.js';

const { values: options } = parseArgs({
  options: {
    workflow: { type: 'boolean', default: false },
    world: { type: 'string' },
    mutant: { type: 'string' },
    skills: { type: 'boolean', default: false },
    timeout: { type: 'boolean', default: false },
    burst: { type: 'string', default: '0' },
    mislead: { type: 'boolean', default: false },
    fork: { type: 'boolean', default: false },
    story: { type: 'boolean', default: false },
    budget: { type: 'boolean', default: false },
    grants: { type: 'boolean', default: false },
    own: { type: 'boolean', default: false },
    schedules: { type: 'string', default: '0' },
    projects: { type: 'string', default: '0' },
    graphs: { type: 'string', default: '0' },
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
if (options.story) tell(await killStory(['before', 'after']));
if (options.skills) tell(await changeSkills());
if (options.timeout) tell(await timeOut());
if (Number(options.burst) > 0) tell(await endTogether(Number(options.burst)));
if (options.mislead) tell(await mislead());
if (options.fork) tell(await forkBeforePlan(options.mutant === 'handlers' ? 'handlers' : 'owner calls'));
if (options.budget)
  tell(await (options.mutant === 'reserve' ? withPlanted('budget', UNRESERVED, keepPlanted) : keepBudget()));
if (options.grants) tell(await narrowGrants());
if (options.own) tell(await ownName());
if (Number(options.projects) > 0) tell(await manyProjects(Number(options.projects)));
if (Number(options.graphs) > 0) tell(launchGraphs(Number(options.graphs), Number(options.seed)));
if (Number(options.schedules) > 0) playSchedules(Number(options.schedules), Number(options.seed));

/** Keeps a budget with a mistake planted in it. */
function keepPlanted(broken: { readonly keepBudget: typeof keepBudget }): ReturnType<typeof keepBudget> {
  return broken.keepBudget();
}

/** Plays schedules on the reducers alone. */
function playSchedules(runs: number, seed: number): void {
  const command = `npx tsx --conditions=@reprise/source conformance/team.ts --schedules ${runs} --seed ${seed}`;
  const { tasks, results, wakes } = holdSchedules({ runs, seed, command });
  console.log(`${runs} schedules, ${tasks} tasks, ${results} results, ${wakes} wakes: as plain lists say; stuck 0`);
}
