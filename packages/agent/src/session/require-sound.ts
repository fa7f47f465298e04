/** Questions to a cell that has failed: its state is the one before the fault, and says nothing of now. */
import type { Address } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { cellFailed } from '@reprise/kernel/world';

/** Refuses a question to a cell that has failed. @throws RepriseError `cell_failed` */
export async function requireSound(world: Pick<World, 'trouble'>, [reducer, key]: Address): Promise<void> {
  for (const one of await world.trouble())
    if (one.kind === 'cell_failed' && one.where[0] === reducer && one.where[1] === key) throw cellFailed(one);
}
