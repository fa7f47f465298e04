/** MCP servers as toolsets of agents. On a subpath of its own: who uses none loads nothing of it. */
export { type McpApproval, type McpCall, type McpOptions, mcp } from './mcp.js';
export type { HttpServer, McpServer, Secrets, StdioServer } from './server.js';
