/** Opening a world of agents, without what apps and tools of others need besides it. */

export { reportOnce } from './history/report-once.js';
export { openAgentWorld } from './world/open-agent-world.js';
