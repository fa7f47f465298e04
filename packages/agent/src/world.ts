/** Opening a world of agents, without what apps and tools of others need besides it. */
export { openAgentWorld } from './world/open-agent-world.js';
