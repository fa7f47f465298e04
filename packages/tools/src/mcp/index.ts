/**
 * MCP servers as toolsets of agents. Exported from a subpath of its own, so that an app without MCP loads none of it.
 */

export type { HttpServer, McpServer, StdioServer } from './address.js';
export { type McpOptions, mcp } from './mcp.js';
