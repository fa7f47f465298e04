/** Which troubles of a world hold up a part of it: a session, a tree, a project. */
import type { Address } from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';

/** Whether the key of a cell is one of these names, or stands below one of them. */
export function isBelow(names: readonly string[]): (cell: Address) => boolean {
  return ([, key]) => names.some((name) => key === name || key.startsWith(`${name}/`) || key.startsWith(`${name}~`));
}

/**
 * The troubles that hold up some cells: those of the store hold up all, a failed cell itself, and a service those that wait
 * for it. A clock that jumped holds up nothing: time goes on without it.
 */
export function stallsOf<T extends Trouble>(troubles: readonly T[], isMeant: (cell: Address) => boolean): readonly T[] {
  return troubles.filter((trouble) => holdsUp(trouble, isMeant));
}

function holdsUp(trouble: Trouble, isMeant: (cell: Address) => boolean): boolean {
  switch (trouble.kind) {
    case 'world_ended':
    case 'store_full':
    case 'store_slow':
      return true;
    case 'cell_failed':
      return isMeant(trouble.where);
    case 'service_failing':
      return trouble.cells.some(isMeant);
    case 'clock_jump':
      return false;
  }
}
