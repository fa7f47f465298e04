/** Executes `specialists.team@1`: the team as it is defined in this process. */
import { type AnyAgent, defineAgent, type PartHost, type Tool } from '@reprise/agent';
import type { Address } from '@reprise/contracts';
import { type Adapter, encode, portableSha256, toHex } from '@reprise/kernel';
import { readTeam, type TeamRow } from '../pure/index.js';

/** A team as its part was defined. */
export interface TeamFacts
  extends Pick<TeamRow, 'name' | 'default_model' | 'timeout_ms' | 'dispatch' | 'on_failed' | 'budget'> {
  readonly coordinator: AnyAgent;
  /** The tools of the catalog, and those that the app gave the coordinator. */
  readonly tools: readonly Tool[];
  readonly coordinatorTools: readonly Tool[];
  readonly calls: Address | null;
}

interface TeamRead {
  readonly version: string;
  readonly team?: TeamRow;
}

/** The adapter of `specialists.team@1`. */
export function teamAdapter(host: PartHost, facts: TeamFacts): Adapter<{ readonly known: string | null }, TeamRead> {
  return {
    effect: readTeam as unknown as Adapter<{ readonly known: string | null }, TeamRead>['effect'],
    name: 'specialists.team',
    async doExecute({ known }) {
      const team = await recordedTeam(host, facts);
      const version = toHex(portableSha256(encode(team as never)));
      return { status: 'ok', payload: version === known ? { version } : { version, team } };
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
