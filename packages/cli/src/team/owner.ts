/** The process that runs a team: it has the world until the project is idle. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type AgentWorld, openAgentWorld } from '@reprise/agent';
import { reportOnce } from '@reprise/agent/history';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { llmGenerateAdapter, type ModelClient, withPrice } from '@reprise/providers';
import { folder, type Projects, type SkillSource, team } from '@reprise/specialists';
import { workspace } from '@reprise/tools';
import { MODEL } from '../tree/agents.js';
import { type ModelChoice, modelOf, secretsOf } from '../tree/models.js';
import { makeFolder } from '../tree/owner.js';
import { RULES } from '../tree/rules/rules-model.js';
import { isDatabase, storeAt } from '../world/place.js';
import { teamRules } from './rules/rules-model.js';
import { builtInSkills } from './skills.js';

/** What a team is run with. */
export interface TeamSetup extends ModelChoice {
  /** Folders of skills; without one, the built-in skills. */
  readonly skills: readonly string[];
  /** The folder that specialists read. */
  readonly folder: string;
  readonly planners: readonly string[];
  readonly dispatch?: 'auto';
  /** How many jobs are started at once. */
  readonly max?: number;
  /** The budget of the project in dollars. */
  readonly budget?: number;
  /** Receives what fails, each kind of error once, in a line. */
  readonly report?: (line: string) => void;
}

/** An open world of a team. */
export interface TeamOwner extends AsyncDisposable {
  readonly world: AgentWorld;
  readonly projects: Projects;
}

/** The name of the team in its world. */
const TEAM = 'team';
/** The folder of skills when none is named. */
const SKILLS_DEFAULT = 'skills';

const IDENTITY = 'You lead a team that answers questions about a folder, for the user who writes to you.';

/**
 * The folders of skills that are used: the named ones, or `skills` when it is there.
 *
 * @throws RepriseError `invalid_argument` for a named folder that is not there
 */
export function skillFolders(named: readonly string[]): readonly string[] {
  if (named.length === 0) return existsSync(SKILLS_DEFAULT) ? [SKILLS_DEFAULT] : [];
  for (const one of named)
    if (!existsSync(one))
      throw new RepriseError('invalid_argument', 'the folder of skills does not exist', {
        where: '--skills',
        actual: one,
      });
  return named;
}

/**
 * Opens a world of a team.
 *
 * @throws RepriseError `world_locked` when another process has the world; the errors of opening one
 */
export async function openTeam(file: string, setup: TeamSetup): Promise<TeamOwner> {
  if (!isDatabase(file)) makeFolder(path.dirname(path.resolve(file)));
  const client = clientOf(setup);
  const sources: readonly SkillSource[] =
    setup.skills.length === 0 ? builtInSkills() : setup.skills.map((one) => folder(one));
  const crew = team({
    name: TEAM,
    skills: sources,
    tools: workspace({ root: setup.folder, readOnly: true }),
    coordinator: { model: MODEL, identity: IDENTITY },
    planners: setup.planners,
    ...(setup.dispatch === undefined ? {} : { dispatch: setup.dispatch }),
    ...(setup.max === undefined ? {} : { agents: { maxConcurrent: setup.max } }),
    ...(setup.budget === undefined ? {} : { budget: { usd: setup.budget } }),
  });
  const models = { [MODEL]: client };
  const { context_window_hint: contextWindow, price } = client.profile;
  const world = await openAgentWorld({
    store: storeAt(file),
    parts: [crew],
    models: {
      [MODEL]: { ...(contextWindow === undefined ? {} : { contextWindow }), ...(price === undefined ? {} : { price }) },
    },
    llm: (judge) => llmGenerateAdapter(models, { judge }),
    secrets: secretsOf(process.env),
    ...(setup.report === undefined ? {} : { onError: reportOnce(setup.report) }),
  });
  return { world, projects: world.part(crew), [Symbol.asyncDispose]: () => world.close() };
}

/** The model of a team: rules, or one that a key or an address gives access to. */
export function clientOf(choice: ModelChoice): ModelClient {
  if (choice.model !== RULES) return modelOf(choice, process.env);
  return choice.price === undefined ? teamRules() : withPrice(teamRules(), choice.price);
}

/** Adds what to do to the error of a world that another process has. */
export function heldByOtherTeam(error: unknown, where: string): unknown {
  if (!isRepriseError(error, 'world_locked')) return error;
  return new RepriseError('world_locked', 'another process has this world and runs its team', {
    ...error.details,
    where,
    hint: 'Look at it: reprise team show. Or name another world: --world FILE.',
  });
}
