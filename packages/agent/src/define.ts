/** What an app needs in order to define its agents; worlds of agents are loaded when one is opened. */

export { defineAgent } from './define/agent.js';
export { deferred, outcomeUnknown, toolError } from './tools/output/result.js';
export { defineTool } from './tools/tool/tool.js';
export { AGENT_POLICY, agentApp } from './world/app.js';
