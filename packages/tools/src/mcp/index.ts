/**
 * MCP servers as toolsets of agents. Exported from a subpath of its own, so that an app without MCP loads none of it.
 */

export type { HttpServer, McpServer, Secrets, StdioServer } from './address.js';
export { type McpApproval, type McpCall, type McpOptions, mcp } from './mcp.js';
