/** The Model Context Protocol for a world: the message core of a server. */
export {
  type McpAnswer,
  type McpConnection,
  type McpCore,
  type McpServerOptions,
  type McpTool,
  type McpToolCall,
  type McpWire,
  mcpServer,
} from './mcp.js';
