/** What all teams of a world share: the cell of projects, its plans and effects. Each team adds what it is. */
import type { PartHost, WorldPart } from '@reprise/agent';
import { memoryPart, memoryTools, textsPart } from '@reprise/org';
import { readAdapter } from '../adapters/read.js';
import { type TeamInWorld, teamAdapter } from '../adapters/team.js';
import { listPlan, projectReducer, readPlan, showPlan, wakePlan } from '../pure/index.js';
import { coordinatorTools, specialistTools } from '../tools/project-tools.js';
import { followedProjects } from './followed.js';
import { projectRows } from './projections.js';

const TEAMS = new WeakMap<PartHost, Map<string, TeamInWorld>>();

/** The teams of a world, by name. */
export function teamsOf(host: PartHost): Map<string, TeamInWorld> {
  const known = TEAMS.get(host) ?? new Map<string, TeamInWorld>();
  TEAMS.set(host, known);
  return known;
}

/** Projects as a part of a world: every team uses it. */
export const projectsPart: WorldPart<undefined> = {
  name: 'specialists/projects',
  uses: [memoryPart(), textsPart],
  reducers: [projectReducer],
  plans: [readPlan, wakePlan, listPlan, showPlan],
  adapters: (host) => [teamAdapter(host, teamsOf(host)), readAdapter()],
  policy: [{ effect: 'specialists.*', decision: 'allow' }],
  tools: [...coordinatorTools(), ...specialistTools(), ...Object.values(memoryTools)],
  views: [projectRows],
  organizations: (world) => [followedProjects(world)],
  handle: () => undefined,
};
