/** Societies of agents: identities, capabilities, memory by scope, trust, swarms and signed returns. */
export { type AgentStatus, type AgentType, type Tier } from '@reprise/society';
