/** Teams as a part of a world. */
import type { AgentWorld, AnyAgent, Limits, PartHost, Tool, WorldPart } from '@reprise/agent';
import { type Duration, defineAgent, durationMs } from '@reprise/agent';
import {
  type Address,
  type ArgumentCheck,
  type Capability,
  checkOf,
  isRepriseError,
  RepriseError,
  requireKnownOptions,
} from '@reprise/contracts';
import { permits } from '@reprise/kernel/authority';
import { callRules, LIVE_ITEMS_MAX, type Money, memoryTools, recordedMoney, workPart } from '@reprise/org';
import { agentOfSkill, specialistPreparer } from '../adapters/prepare.js';
import type { TeamFacts, TeamInWorld } from '../adapters/team.js';
import { coordinatorInstructions } from '../prompts/coordinator.js';
import { PROJECT, PROJECT_BOUNDS, poolOf, type TeamRow, WAKES_MAX } from '../pure/index.js';
import { lookAtSkills, type SkillLibrary, type SkillSource, skillLibrary } from '../skills/index.js';
import { coordinatorTools, specialistTools } from '../tools/project-tools.js';
import { coordinatorSource } from './coordinator-context.js';
import { projectRows } from './projections.js';
import { type Projects, projectsOf } from './projects.js';
import { projectsPart, teamsOf } from './projects-part.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid team');

/** What a team consists of: its name, its coordinator, its skills, its tools and its bounds. */
export interface TeamOptions {
  /** Its name among the teams of its world: 1 to 40 of a–z 0–9 . _ - */
  readonly name: string;
  /** Where skills come from: `folder('skills')`, `skill({ … })`. Of two with one name the first folder wins, and a folder over code. */
  readonly skills: readonly SkillSource[];
  /** The catalog of tools that skills may name. */
  readonly tools: readonly Tool[];
  readonly coordinator: {
    /** The alias of its model. */
    readonly model: string;
    /** Who it is, in its prompt. */
    readonly identity: string;
    readonly limits?: Limits;
    /**
     * How often in a row it is woken for results and decisions while no person acts and no task ends for good; then the
     * project needs a decision. 24 when absent.
     */
    readonly maxWakes?: number;
    /** Tools beside its own, such as `askHuman`: nothing that does the work. */
    readonly tools?: readonly Tool[];
  };
  /** The names of the skills that may write plans. */
  readonly planners?: readonly string[];
  /** The alias of the model of skills that name none; the coordinator's when absent. */
  readonly defaultModel?: string;
  readonly agents?: {
    /** How many jobs of all projects are started at once; 3 when absent. */
    readonly maxConcurrent?: number;
    /** How long a job may take; 5 minutes when absent. */
    readonly defaultTimeout?: Duration;
  };
  /** Who spawns a task that is ready; the coordinator when absent. */
  readonly dispatch?: TeamRow['dispatch'];
  /** What becomes of tasks that depend on a failed one: they wait for a decision, or fail as well. `wait` when absent. */
  readonly onFailed?: TeamRow['on_failed'];
  readonly memory?: {
    /** How many memories of a project are live at once; 50,000 when absent. */
    readonly max?: number;
  };
  /** The cell of the app that answers its own owner tools. The team brings the policy rules for both ways. */
  readonly calls?: Address;
  /** What a project may use, all its agents together; no bound when absent. */
  readonly budget?: Money;
}

/** A team: a part of a world. */
export interface Team extends WorldPart<Projects> {
  readonly name: string;
}

const OPTIONS: Readonly<Record<keyof TeamOptions, true>> = {
  name: true,
  skills: true,
  tools: true,
  coordinator: true,
  planners: true,
  defaultModel: true,
  agents: true,
  dispatch: true,
  onFailed: true,
  memory: true,
  calls: true,
  budget: true,
};

/** The longest time of a job. */
const TIMEOUT_MAX_MS = 7 * 86_400_000;

/**
 * A team of specialists as a part of a world. A world may have several teams, each with a name, projects and slots of its
 * own.
 *
 * @throws RepriseError `invalid_definition`; `duplicate_definition` for a tool of the coordinator with the name of one
 *   that it has already
 * @example
 * const coordinator = { model: 'main', identity: 'You coordinate.' }
 * const dev = team({ name: 'dev', skills: [folder('skills')], tools: [], coordinator })
 * await using world = await openWorld({ store, models, parts: [dev] })
 * await world.part(dev).project('auth').send('Move login to OAuth')
 */
export function team(options: TeamOptions): Team {
  requireKnownOptions(options, OPTIONS, 'team');
  const { name } = options;
  require(typeof name === 'string' && /^[a-z0-9._-]{1,40}$/.test(name), 'name', '1 to 40 of a–z 0–9 . _ -', name);
  const { maxConcurrent, ...facts } = chosenOptions(options);
  const library = skillLibrary(options.skills);
  const pool = poolOf(name);
  const specialists = { name, ...specialistsOf(options, library, facts.default_model) };
  const preparers = workPart({ preparers: [specialistPreparer(specialists)] });
  // Each world has a coordinator of its own: what it is told comes from the world that it is in.
  const made = new WeakMap<PartHost, AnyAgent>();
  const inWorld = new WeakMap<AgentWorld, AnyAgent>();
  const coordinatorFor = (host: PartHost): AnyAgent => {
    const known = made.get(host) ?? coordinatorAgent(options, host);
    if (!made.has(host)) void host.world.then((world) => inWorld.set(world, known));
    made.set(host, known);
    return known;
  };
  const factsFor = (host: PartHost): TeamFacts => ({
    ...{ name, coordinator: coordinatorFor(host), tools: options.tools, calls: options.calls ?? null },
    coordinatorTools: options.coordinator.tools ?? [],
    ...facts,
  });
  return {
    name,
    uses: [projectsPart, preparers],
    policy: callRules(PROJECT, options.calls),
    adapters: (host) => {
      const look: TeamInWorld['look'] = (content, version, rights) =>
        lookAtSkills(library, skillTeam(options, host, rights), content, version);
      teamsOf(host).set(name, { facts: factsFor(host), look });
      return [];
    },
    agents: (host) => [coordinatorFor(host)],
    agentOf: (named, host) => agentOfSkill(specialists, named, host),
    tools: options.tools,
    started: async (world) => {
      await openPool(world, pool, maxConcurrent);
      const stop = library.watch(() => void readAgain(world, name));
      return async () => stop();
    },
    handle: (world) => projectsOf(world, name, () => inWorld.get(world)),
  };
}

/** Files of a watched folder changed: projects that work have their skills read. The others read them at their next run. */
async function readAgain(world: AgentWorld, team: string): Promise<void> {
  try {
    for (const id of await workingProjects(world, team))
      await world.kernel.request([PROJECT, id], { name: 'specialists/Open@1', value: { team } });
  } catch (error) {
    // The world is closing, or a project has just ended: the skills are read before its next run anyway.
    if (!(error instanceof RepriseError)) throw error;
  }
}

async function workingProjects(world: AgentWorld, team: string): Promise<readonly string[]> {
  const { rows } = await (await world.views()).view(projectRows).query({ index: 'updated', order: 'desc' });
  return rows
    .filter(({ row }) => row.team === team && (row.status === 'working' || row.status === 'needs_decision'))
    .map(({ key }) => String(key));
}

/**
 * Makes the pool of the team, or gives it the slots that the team has now. A pool that has failed keeps those that it had, and
 * stands among the troubles of the world: a world is not closed to all for it.
 */
async function openPool(world: AgentWorld, at: Address, limit: number): Promise<void> {
  try {
    await limitPool(world, at, limit);
  } catch (error) {
    if (!isRepriseError(error, 'cell_failed') && !isRepriseError(error, 'delivery_faulted')) throw error;
  }
}

async function limitPool(world: AgentWorld, [reducer, key]: Address, limit: number): Promise<void> {
  const at: Address = [reducer, key];
  const state = (await world.kernel.state(at)) as { readonly limit?: number } | undefined;
  if (state === undefined)
    await world.kernel.request(at, { name: 'flow/OpenQueue@1', value: { limit, paused: false } });
  else if (state.limit !== limit) await world.kernel.request(at, { name: 'flow/LimitQueue@1', value: { limit } });
}

/** What a team is told of itself, with what is used where an option is absent. */
type Chosen = Omit<TeamFacts, 'name' | 'coordinator' | 'tools' | 'coordinatorTools' | 'calls'> & {
  readonly maxConcurrent: number;
};

function chosenOptions(options: TeamOptions): Chosen {
  const {
    skills,
    tools,
    coordinator,
    planners = [],
    agents = {},
    dispatch = 'coordinator',
    onFailed = 'wait',
  } = options;
  require(Array.isArray(skills), 'skills', 'a list of sources of skills', skills);
  require(Array.isArray(tools), 'tools', 'a list of tools', tools);
  require(typeof coordinator?.identity === 'string', 'coordinator.identity', 'a text', coordinator?.identity);
  require(typeof coordinator.model === 'string', 'coordinator.model', 'the alias of a model', coordinator.model);
  require(planners.every((one) => typeof one === 'string'), 'planners', 'names of skills', planners);
  require(['coordinator', 'auto'].includes(dispatch), 'dispatch', 'coordinator or auto', dispatch);
  require(['wait', 'cascade'].includes(onFailed), 'onFailed', 'wait or cascade', onFailed);
  const { maxConcurrent = 3, defaultTimeout = '5m' } = agents;
  const isCount = Number.isInteger(maxConcurrent) && maxConcurrent >= 1 && maxConcurrent <= 256;
  require(isCount, 'agents.maxConcurrent', 'a whole number from 1 to 256', maxConcurrent);
  const { max } = options.memory ?? {};
  const isBound = max === undefined || (Number.isInteger(max) && max >= 1 && max <= LIVE_ITEMS_MAX);
  require(isBound, 'memory.max', `a whole number from 1 to ${LIVE_ITEMS_MAX}`, max);
  const { maxWakes = WAKES_MAX } = coordinator;
  const isWakes = Number.isInteger(maxWakes) && maxWakes >= 1 && maxWakes <= PROJECT_BOUNDS.jobs;
  require(isWakes, 'coordinator.maxWakes', `a whole number from 1 to ${PROJECT_BOUNDS.jobs}`, maxWakes);
  const timeoutMs = durationMs(defaultTimeout, 'agents.defaultTimeout');
  const isTime = timeoutMs >= 1 && timeoutMs <= TIMEOUT_MAX_MS;
  require(isTime, 'agents.defaultTimeout', 'a duration up to 7 days, such as 5m', defaultTimeout);
  return {
    ...{ maxConcurrent, wakes_max: maxWakes, timeout_ms: timeoutMs, dispatch, on_failed: onFailed },
    default_model: options.defaultModel ?? coordinator.model,
    memory_max: max ?? null,
    budget: options.budget === undefined ? null : recordedMoney(options.budget, 'budget'),
  };
}

/** The coordinator: its own tools, those of the memory, and those that the app gave it; never one that does the work. */
function coordinatorAgent({ name, coordinator, budget }: TeamOptions, host: PartHost): AnyAgent {
  const { model, identity, tools = [] } = coordinator;
  // A budget in money needs a price of the coordinator's model: stated as a limit, it is refused without one.
  const usd = budget !== undefined && 'usd' in budget ? { usd: budget.usd } : {};
  const limits = { ...coordinator.limits, ...usd };
  return defineAgent({
    name: `coordinator-${name.replaceAll('.', '_')}`,
    model,
    instructions: coordinatorInstructions(identity),
    tools: [...coordinatorTools(), ...Object.values(memoryTools), ...tools],
    context: [coordinatorSource(host)],
    limits,
  });
}

/** What the checks of skills know of the team. */
function skillTeam({ tools, planners = [] }: TeamOptions, host: Pick<PartHost, 'models'>, rights: Capability) {
  const denied = tools.filter((tool) => !mayUse(rights, tool)).map(({ name }) => name);
  return { tools: tools.map(({ name }) => name), models: host.models, planners, denied };
}

/** Whether rights cover the effect of a tool. A tool that a cell answers has none. */
function mayUse(rights: Capability, { name, entry }: Tool): boolean {
  if (entry.kind === 'ask') return permits(rights, 'effect', 'human.ask@1');
  if (entry.kind !== 'tool') return true;
  return permits(rights, 'effect', 'tool.call@1') && permits(rights, 'tool', name);
}

function specialistsOf(options: TeamOptions, library: SkillLibrary, defaultModel: string) {
  const own = new Map([...specialistTools(), memoryTools.memory_query].map((tool) => [tool.name, tool]));
  return {
    library,
    defaultModel,
    facts: (host: Pick<PartHost, 'models'>, rights: Capability) => skillTeam(options, host, rights),
    tool(name: string, isPlanner: boolean): Tool | undefined {
      const listed = options.tools.find((tool) => tool.name === name);
      if (listed !== undefined) return listed;
      return name === 'plan_write' && !isPlanner ? undefined : own.get(name);
    },
  };
}
