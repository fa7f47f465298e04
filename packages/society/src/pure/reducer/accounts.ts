/** Accounts of entities: the parallel limit of an agent bounds it and all agents below it together. */

/** The account of an entity. */
export function accountOf(id: string): string {
  return `entity:${id}`;
}
