/** Names that a swarm and its agents share. */

/** The key of the queue of a swarm's tasks. */
export function poolOf(swarm: string): string {
  return `society/${swarm}`;
}
