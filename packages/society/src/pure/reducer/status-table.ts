/** The changes of status that are legal (SOC-35). */
import type { AgentStatus } from '../contracts/index.js';

const NEXT: Readonly<Record<AgentStatus, readonly AgentStatus[]>> = {
  registered: ['active', 'suspended', 'deactivated'],
  active: ['suspended', 'deactivated'],
  suspended: ['active', 'deactivated'],
  deactivated: ['active', 'removed'],
  removed: [],
};

/** Whether a change is legal. */
export function isLegal(from: AgentStatus, to: AgentStatus): boolean {
  return NEXT[from].includes(to);
}
