/** Finds the agents that an agent may spawn. */
import { RepriseError } from '@reprise/contracts';
import type { AnyAgent } from './agent.js';

/** Every agent that may be spawned from one, here and below, in the order of the definitions. */
export function spawnable(agent: AnyAgent): readonly AnyAgent[] {
  const found = new Map<string, AnyAgent>();
  const visit = (one: AnyAgent): void => {
    const known = found.get(one.name);
    if (known === one) return;
    if (known !== undefined || (one.name === agent.name && one !== agent)) {
      throw new RepriseError('duplicate_definition', `two agents have the name "${one.name}"`, {
        where: `agent ${agent.name} spawns`,
        hint: 'Give one of them another name.',
      });
    }
    found.set(one.name, one);
    for (const child of one.spawns) visit(child);
  };
  for (const child of agent.spawns) visit(child);
  return [...found.values()];
}
