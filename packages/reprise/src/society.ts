/** Societies of agents: identities, capabilities, memory by scope, trust, swarms and signed returns. */
export type { AgentStatus, AgentType, Tier } from '@reprise/society';
