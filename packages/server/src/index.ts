/** The Model Context Protocol for a world: the message core of a server. */
export { mcpServer } from './mcp.js';
export {
  type McpAnswer,
  type McpConnection,
  type McpCore,
  McpFailure,
  type McpServerOptions,
  type McpTool,
  type McpToolCall,
  type McpWire,
} from './mcp-types.js';
