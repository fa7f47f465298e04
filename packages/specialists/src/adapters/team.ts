/** Executes `specialists.skills@1`: the team as it is defined in this process, and its skills as they are now. */
import { type AnyAgent, defineAgent, type PartHost, type Tool } from '@reprise/agent';
import type { Address, Capability, Ref } from '@reprise/contracts';
import { type AnyAdapter, adapterOf, type ContentStore, encode, portableSha256, toHex } from '@reprise/kernel';
import { lookAtTeam, type SkillsSeen, type TeamRow } from '../pure/index.js';

/** A team as its part was defined. */
export interface TeamFacts
  extends Pick<
    TeamRow,
    'name' | 'default_model' | 'timeout_ms' | 'dispatch' | 'on_failed' | 'budget' | 'memory_max' | 'wakes_max'
  > {
  readonly coordinator: AnyAgent;
  /** The tools of the catalog, and those that the app gave the coordinator. */
  readonly tools: readonly Tool[];
  readonly coordinatorTools: readonly Tool[];
  readonly calls: Address | null;
}

/** A team in a world: what it is, and how it looks at its skills for a project that has these rights. */
export interface TeamInWorld {
  readonly facts: TeamFacts;
  look(content: ContentStore, version: Ref | null, rights: Capability): Promise<SkillsSeen>;
}

/**
 * The adapter of `specialists.skills@1`.
 *
 * @param teams the teams of the world, by name
 */
export function teamAdapter(host: PartHost, teams: ReadonlyMap<string, TeamInWorld>): AnyAdapter {
  return adapterOf(lookAtTeam, {
    name: 'specialists.skills',
    async doExecute(known, { content, rights }) {
      const found = known.name === null ? onlyOf(teams) : teams.get(known.name);
      if (found === undefined) return { status: 'error', code: 'adapter_error/unknown_team', retryable: false };
      const { facts, look } = found;
      const [team, skills] = await Promise.all([
        recordedTeam(host, facts),
        rights().then((own) => look(content, known.skills, own)),
      ]);
      const version = toHex(portableSha256(encode(team as never)));
      return { status: 'ok', payload: { team: version === known.team ? { version } : { version, team }, skills } };
    },
  });
}

/** The team of a project that names none. */
function onlyOf(teams: ReadonlyMap<string, TeamInWorld>): TeamInWorld | undefined {
  return teams.size === 1 ? [...teams.values()][0] : undefined;
}

async function recordedTeam(host: PartHost, facts: TeamFacts): Promise<TeamRow> {
  const { coordinator, tools, coordinatorTools, calls, ...stated } = facts;
  const { adopted } = await host.adopt(coordinator);
  return {
    ...stated,
    coordinator: adopted,
    calls: calls === null ? null : [calls[0], calls[1]],
    app_tools: ownerToolsOf(tools),
    coordinator_tools: ownerToolsOf(coordinatorTools),
    unpriced: await unpriced(host), // also without a budget in money: people can set one later
  };
}

function ownerToolsOf(tools: readonly Tool[]): string[] {
  return tools.flatMap(({ name, entry }) => (entry.kind === 'owner' ? [name] : []));
}

/** The models without a price: what a definition records of its model tells. */
async function unpriced(host: PartHost): Promise<string[]> {
  const found: string[] = [];
  for (const model of host.models) {
    const { adopted } = await host.adopt(defineAgent({ name: 'price', model, instructions: 'States its price.' }));
    if ((adopted.config.price ?? null) === null) found.push(model);
  }
  return found;
}
