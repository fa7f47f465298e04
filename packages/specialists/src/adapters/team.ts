/** Executes `specialists.skills@1`: the team as it is defined in this process, and its skills as they are now. */
import { type AnyAgent, defineAgent, type PartHost, type Tool } from '@reprise/agent';
import type { Address, Capability, Ref } from '@reprise/contracts';
import { type Adapter, type ContentStore, encode, portableSha256, toHex } from '@reprise/kernel';
import type * as z from 'zod';
import { lookAtTeam, type lookReceipt, type SkillsSeen, type TeamRow } from '../pure/index.js';

/** A team as its part was defined. */
export interface TeamFacts
  extends Pick<TeamRow, 'name' | 'default_model' | 'timeout_ms' | 'dispatch' | 'on_failed' | 'budget'> {
  readonly coordinator: AnyAgent;
  /** The tools of the catalog, and those that the app gave the coordinator. */
  readonly tools: readonly Tool[];
  readonly coordinatorTools: readonly Tool[];
  readonly calls: Address | null;
}

/** What the project knows: the versions of the team and of its skills. */
interface Known {
  readonly team: string | null;
  readonly skills: Ref | null;
}

type Look = z.infer<typeof lookReceipt>;

/**
 * The adapter of `specialists.skills@1`.
 *
 * @param look looks at the skills of a project that has these rights
 */
export function teamAdapter(
  host: PartHost,
  facts: TeamFacts,
  look: (content: ContentStore, version: Ref | null, rights: Capability) => Promise<SkillsSeen>,
): Adapter<Known, Look> {
  return {
    effect: lookAtTeam as unknown as Adapter<Known, Look>['effect'],
    name: 'specialists.skills',
    async doExecute(known, { content, rights }) {
      const [team, skills] = await Promise.all([
        recordedTeam(host, facts),
        rights().then((own) => look(content, known.skills, own)),
      ]);
      const version = toHex(portableSha256(encode(team as never)));
      return { status: 'ok', payload: { team: version === known.team ? { version } : { version, team }, skills } };
    },
  };
}

async function recordedTeam(host: PartHost, facts: TeamFacts): Promise<TeamRow> {
  const { name, coordinator, default_model, timeout_ms, dispatch, on_failed, budget, calls } = facts;
  const { adopted } = await host.adopt(coordinator);
  return {
    ...{ name, coordinator: adopted, default_model, timeout_ms, dispatch, on_failed, budget },
    calls: calls === null ? null : [calls[0], calls[1]],
    app_tools: ownerToolsOf(facts.tools),
    coordinator_tools: ownerToolsOf(facts.coordinatorTools),
    unpriced: budget?.unit === 'micro_money' ? await unpriced(host) : [],
  };
}

/** The names of tools that a cell of the app answers. */
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
